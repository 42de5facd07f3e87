import { SvelteMap } from 'svelte/reactivity'
import { type ApiError, asApiError, type Call } from '../api'
import { oneAtATime } from '../model/oneAtATime'
import type {
  Envelope,
  FilesRestored,
  MergePlan,
  RaceReply,
  RaceRequest,
  RunsReply,
  UndoChoice,
} from '../types.gen'

/** The worktrees of a session's forks and agents side by side, and races. */
export class Runs {
  /** The session whose runs are shown; empty if none are. */
  session = $state('')
  reply = $state.raw<RunsReply>()
  /** The prompt of a race that is being prepared. */
  racing = $state<string>()
  /** The run that is looked at to be merged, and what that would do. */
  run = $state('')
  plan = $state.raw<MergePlan>()
  /** What of the plan is taken, by the paths of its files. */
  readonly chosen = new SvelteMap<string, UndoChoice>()
  /** What the last merge did. */
  done = $state.raw<FilesRestored>()
  busy = $state(false)
  problem = $state.raw<ApiError | null>(null)
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Shows the runs of a session. */
  open(session: string): void {
    this.close()
    this.session = session
    void this.load()
  }

  close(): void {
    this.session = ''
    this.reply = undefined
    this.problem = null
    this.leave()
  }

  readonly load = oneAtATime(async () => {
    const { session } = this
    if (!session) return
    try {
      const reply = await this.#call('sessions.runs', { session })
      if (this.session === session) this.reply = reply
    } catch (thrown) {
      if (this.session === session) this.problem = asApiError(thrown)
    }
  })

  /** Reads the runs again when one of them has gone on. */
  receive({ session, events = [] }: Envelope): void {
    const { reply } = this
    if (!reply) return
    const isShown = [reply.target, ...(reply.runs ?? []).map((run) => run.session)].some(
      ({ id }) => id === session,
    )
    if (isShown && events.some(({ kind }) => told.has(kind))) void this.load()
  }

  /** Runs a command where each run works, and where they may be merged. */
  async test(command: string): Promise<void> {
    const { reply } = this
    if (!reply) return
    const all = [...(reply.runs ?? []).map((run) => run.session), reply.target]
    await this.#attempt(async () => {
      const began = await Promise.allSettled(
        all.map(({ id }) => this.#call('conversation.command', { session: id, command })),
      )
      const failed = began.find((each) => each.status === 'rejected')
      if (failed) throw failed.reason
    })
    await this.load()
  }

  /** Shows what merging a run would do. What has no conflict is chosen. */
  async review(run: string): Promise<void> {
    const session = this.reply?.target.id
    if (!session) return
    this.leave()
    this.run = run
    const plan = await this.#attempt(() => this.#call('sessions.merge_plan', { session, run }))
    if (this.run !== run || !plan) return
    this.plan = plan
    for (const { path, seal, restorable, reason } of plan.files ?? [])
      if (restorable && !reason) this.chosen.set(path, { path, seal })
  }

  choose(path: string, choice: UndoChoice | undefined): void {
    if (choice) this.chosen.set(path, choice)
    else this.chosen.delete(path)
  }

  /** Merges what is chosen, and goes back to the runs. */
  async merge(): Promise<void> {
    const { run, chosen } = this
    const session = this.reply?.target.id
    if (!session || chosen.size === 0) return
    const files = [...chosen.values()]
    const done = await this.#attempt(() => this.#call('sessions.merge', { session, run, files }))
    if (!done) {
      const { problem } = this
      await this.review(run)
      this.problem = problem
      return
    }
    this.leave()
    this.done = done
    await this.load()
  }

  /** Goes back to the runs. */
  leave(): void {
    this.run = ''
    this.plan = this.done = undefined
    this.chosen.clear()
  }

  /** Starts a race; undefined if it could not begin. */
  async race(request: RaceRequest): Promise<RaceReply | undefined> {
    const reply = await this.#attempt(() => this.#call('sessions.race', request))
    if (reply) this.racing = undefined
    return reply
  }

  /** Prepares a race, or gives it up. */
  ask(prompt: string | undefined): void {
    this.racing = prompt
    this.problem = null
  }

  async #attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    this.busy = true
    this.problem = null
    try {
      return await work()
    } catch (thrown) {
      this.problem = asApiError(thrown)
      return undefined
    } finally {
      this.busy = false
    }
  }
}

/** The events after which the runs are read again. */
const told: ReadonlySet<string> = new Set([
  'processing_end',
  'tool_call_end',
  'text_end',
  'local_command_end',
  'title',
  'session_marks',
  'files_restored',
])
