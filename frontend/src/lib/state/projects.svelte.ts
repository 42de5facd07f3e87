import { asApiError, type ApiError, type Call } from '../api'
import type { Desktop } from '../desktop'
import { oneAtATime } from '../model/oneAtATime'
import type { Arrival, RecentProject } from '../types.gen'

/** The projects that the user opened, and the way to open another one beside this one. */
export class Projects {
  /** The project that was opened last comes first. */
  list = $state.raw<readonly RecentProject[]>([])
  /** The folder that is being opened; empty if there is none. */
  opening = $state('')
  problem = $state.raw<ApiError>()
  /** The address of an opened project whose tab the browser did not allow. */
  blocked = $state('')
  #call: Call
  #desktop: Desktop

  constructor(call: Call, desktop: Desktop) {
    this.#call = call
    this.#desktop = desktop
  }

  /** Whether the host asks for a folder with a dialog of its own. */
  get picks(): boolean {
    return this.#desktop.pickFolder !== undefined
  }

  /** Reads the list, never twice at the same time. */
  readonly load = oneAtATime(async () => {
    await this.#attempt(async () => {
      this.list = (await this.#call('projects.list', {})).projects ?? []
    })
  })

  /** Opens a folder in a window or a tab of its own, at a place if one is given; false if that failed or the user has to press a link. */
  async open(folder: string, arrival?: Omit<Arrival, 'at'>): Promise<boolean> {
    if (this.opening) return false
    this.reset()
    this.opening = folder
    const opened = await this.#attempt(async () => {
      const { address } = await this.#call('projects.open', {
        folder,
        ...(arrival && { arrival: { ...arrival, at: 0 } }),
      })
      if (address && !this.#desktop.openPage(address)) this.blocked = address
    })
    this.opening = ''
    void this.load()
    return opened && !this.blocked
  }

  /** Where a page of another project led to this one; undefined if it did not. It is told once. */
  async arrive(): Promise<Arrival | undefined> {
    try {
      return (await this.#call('projects.arrive', {})).arrival
    } catch {
      return undefined // the project is open, and the connection's state is shown
    }
  }

  /** Asks for a folder with the host's dialog and opens it; false if there is something to say. */
  async pick(title: string): Promise<boolean> {
    let folder = ''
    const picked = await this.#attempt(async () => {
      folder = (await this.#desktop.pickFolder!(title)) ?? ''
    })
    return picked && (folder === '' || this.open(folder))
  }

  async forget(folder: string): Promise<void> {
    await this.#attempt(async () => {
      this.list = (await this.#call('projects.forget', { folder })).projects ?? []
    })
  }

  /** The folders whose paths begin with what the user typed. */
  async folders(path: string): Promise<string[]> {
    try {
      return (await this.#call('projects.folders', { folder: path })).folders ?? []
    } catch {
      return [] // opening the path says what is wrong
    }
  }

  /** Forgets what the last attempt said. */
  reset(): void {
    this.problem = undefined
    this.blocked = ''
  }

  async #attempt(work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (thrown) {
      this.problem = asApiError(thrown)
      return false
    }
  }
}
