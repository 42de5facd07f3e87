import { type ApiError, asApiError, type Call } from '../api'
import { oneAtATime } from '../model/oneAtATime'
import type {
  Envelope,
  ScheduleAction,
  ScheduleRun,
  SchedulesReply,
  ScheduleTask,
} from '../types.gen'

/** The prompts that run later in the project, and what became of each time. */
export class Schedules {
  tasks = $state.raw<readonly ScheduleTask[]>([])
  /** The times, the newest first. */
  runs = $state.raw<readonly ScheduleRun[]>([])
  limit = $state(0)
  loaded = $state(false)
  /** Why they could not be read, or one not be changed. */
  problem = $state.raw<ApiError | null>(null)
  busy = $state(false)
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  #take({ tasks = [], runs = [], limit }: SchedulesReply): void {
    this.tasks = tasks
    this.runs = runs
    this.limit = limit
    this.loaded = true
    this.problem = null
  }

  readonly load = oneAtATime(async () => {
    try {
      this.#take(await this.#call('schedules.list', {}))
    } catch (thrown) {
      this.problem = asApiError(thrown)
    }
  })

  /** What the application tells of a change comes with what it tells of hooks. */
  receive(envelope: Envelope): void {
    if (this.loaded && envelope.events?.some(({ kind }) => kind === 'hooks_change'))
      void this.load()
  }

  async change(id: string, action: ScheduleAction): Promise<void> {
    if (this.busy) return
    this.busy = true
    try {
      this.#take(await this.#call('schedules.change', { id, action }))
    } catch (thrown) {
      this.problem = asApiError(thrown)
    } finally {
      this.busy = false
    }
  }
}
