import type { Call } from '../api'
import type { Absence, LookReply } from '../types.gen'

/** How often a page says that it is looked at. */
const lookEveryMs = 30_000

/**
 * What ran without asking while nobody looked at a page. The application knows when somebody last looked, because
 * every page says so, and tells all of them the same.
 */
export class Away {
  absences = $state.raw<readonly Absence[]>([])
  #isInFront = false
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** What a session did meanwhile; undefined if nothing, or if the note was dismissed. */
  of(session: string | undefined): Absence | undefined {
    return this.absences.find((absence) => absence.session === session)
  }

  /** Tells the application whether the page is looked at, until the result is called. */
  watch(): () => void {
    const tell = () => this.#tell(document.visibilityState === 'visible' && document.hasFocus())
    const leave = () => this.#tell(false)
    const timer = setInterval(tell, lookEveryMs)
    window.addEventListener('focus', tell)
    window.addEventListener('blur', tell)
    window.addEventListener('pagehide', leave)
    document.addEventListener('visibilitychange', tell)
    tell()
    return () => {
      clearInterval(timer)
      window.removeEventListener('focus', tell)
      window.removeEventListener('blur', tell)
      window.removeEventListener('pagehide', leave)
      document.removeEventListener('visibilitychange', tell)
    }
  }

  async dismiss(session: string): Promise<void> {
    this.absences = this.absences.filter((absence) => absence.session !== session)
    await this.#take(() => this.#call('away.dismiss', { session }))
  }

  #tell(isInFront: boolean): void {
    const wasInFront = this.#isInFront
    this.#isInFront = isInFront
    if (isInFront) void this.#take(() => this.#call('away.look', { at: Date.now() }))
    else if (wasInFront) void this.#take(() => this.#call('away.leave', { at: Date.now() }))
  }

  /** A failure is not shown: the connection's state is, and the next look tries again. */
  async #take(ask: () => Promise<LookReply>): Promise<void> {
    try {
      const { absences = [] } = await ask()
      this.absences = absences
    } catch {
      // As above.
    }
  }
}
