import { SvelteMap, SvelteSet } from 'svelte/reactivity'
import { type ApiError, asApiError, type Call } from '../api'
import type { ToolEntry } from '../model/entries'
import { oneAtATime } from '../model/oneAtATime'
import type { Envelope, TaskInfo } from '../types.gen'
import { Tail } from './tail.svelte'
import { isBad, isRunning, rank, type Task, taskOf } from '../model/tasks'

/** How many tasks of a session are kept; the application keeps as many. */
const mostKept = 64

/** The background tasks of all sessions (OAS-306), kept up to date by events. */
export class Tasks {
  #bySession = new SvelteMap<string, readonly Task[]>()
  /** The keys of tasks that the user stopped and that have not ended yet. */
  #stopping = new SvelteSet<string>()
  #unfolded = new SvelteMap<string, boolean>()
  #tails: Record<string, Tail> = {}
  #refreshes: Record<string, () => Promise<void>> = {}
  #call: Call
  #onproblem: (problem: ApiError) => void
  #openLink: (url: string) => void

  constructor(call: Call, onproblem: (problem: ApiError) => void, openLink: (url: string) => void) {
    this.#call = call
    this.#onproblem = onproblem
    this.#openLink = openLink
  }

  /** Reads the tasks of all sessions. */
  async load(): Promise<void> {
    const { tasks = [] } = await this.#call('tasks.list', {})
    const known = [...this.#bySession.keys(), ...tasks.map(({ session }) => session)]
    for (const id of known) {
      const own = tasks.filter(({ session }) => session === id)
      this.#take(id, own)
    }
  }

  /** Assumes that the application ended, and its tasks with it. If it did not, the next read restores them. */
  lose(): void {
    for (const session of this.#bySession.keys()) this.#take(session, [])
  }

  receive(envelope: Envelope): void {
    for (const event of envelope.events ?? []) {
      if (event.kind !== 'task_change') continue
      const { task, printed } = event.data
      if (!task) this.#take(envelope.session, [])
      else if (printed) this.#current(envelope.session, task)?.more()
      else void this.#refresh(envelope.session)
    }
  }

  /** The tasks of some sessions: running tasks first, then those that ended last. */
  of(sessions: readonly string[]): readonly Task[] {
    const all = sessions.flatMap((session) => this.#bySession.get(session) ?? [])
    return all.toSorted((a, b) => rank(b) - rank(a) || (a.key < b.key ? 1 : -1))
  }

  /** How many tasks of some sessions are running. */
  running(sessions: readonly string[]): number {
    return this.of(sessions).filter(isRunning).length
  }

  /** The task that a call started or used; undefined if the task is no longer known. */
  ofCall(session: string, call: ToolEntry): Task | undefined {
    const id = call.details?.command?.task
    if (!id) return undefined
    // A session that is continued after its end numbers its tasks from the start again.
    const until = call.startedAt + (call.durationMs ?? 0) + 1000
    return this.#bySession
      .get(session)
      ?.findLast((task) => task.id === id && task.started_at <= until)
  }

  isStopping(task: Task): boolean {
    return isRunning(task) && this.#stopping.has(task.key)
  }

  /** Stops a task and returns when it has ended. */
  async stop({ key, session, id }: Task): Promise<void> {
    this.#stopping.add(key)
    try {
      const ended = await this.#call('tasks.stop', { session, task: id })
      this.#change(session, key, taskOf(ended))
    } catch (thrown) {
      const problem = asApiError(thrown)
      if (problem.code === 'not_found') await this.#refresh(session)
      else this.#onproblem(problem)
    }
    this.#stopping.delete(key)
  }

  /** Opens the page that a task serves on a port. */
  async open({ session, id }: Task, port: number): Promise<void> {
    try {
      const { url } = await this.#call('tasks.open', { session, task: id, port })
      this.#openLink(url)
    } catch (thrown) {
      this.#onproblem(asApiError(thrown))
      await this.#refresh(session)
    }
  }

  /** Looks on which ports the running tasks of some sessions listen by now. */
  async look(sessions: readonly string[]): Promise<void> {
    const running = sessions.filter((id) => this.running([id]) > 0)
    await Promise.all(running.map((id) => this.#refresh(id)))
  }

  /** The output of a task. Every caller gets the same object. */
  tail({ key, session, id }: Task): Tail {
    return (this.#tails[key] ??= new Tail(session, id, this.#call))
  }

  /** Whether the task's output is shown. It is at first, unless the task had already ended well. */
  isUnfolded(task: Task): boolean {
    return this.#unfolded.get(task.key) ?? false
  }

  unfold(task: Task, open: boolean): void {
    this.#unfolded.set(task.key, open)
  }

  /** The output of the task that currently has an id. */
  #current(session: string, id: string): Tail | undefined {
    const task = this.#bySession.get(session)?.findLast((task) => task.id === id)
    return task && this.#tails[task.key]
  }

  #refresh(session: string): Promise<void> {
    const refresh = (this.#refreshes[session] ??= oneAtATime(async () => {
      // The next event reads it again.
      const list = await this.#call('tasks.list', { session }).catch(() => undefined)
      if (list) this.#take(session, list.tasks ?? [])
    }))
    return refresh()
  }

  /** Takes the list of a session. A running task that is no longer listed ended with its session. */
  #take(session: string, infos: readonly TaskInfo[]): void {
    const listed = infos.map(taskOf)
    const isListed = (task: Task) => listed.some(({ key }) => key === task.key)
    const before = this.#bySession.get(session) ?? []
    const gone = before
      .filter((task) => !isListed(task))
      .map((task) =>
        isRunning(task) ? { ...task, state: 'session_ended' as const, ended_at: Date.now() } : task,
      )
    const all = [...gone, ...listed]
    for (const { key } of all.splice(0, all.length - mostKept)) delete this.#tails[key]
    for (const task of all) {
      const tail = this.tail(task)
      tail.isOver = !listed.includes(task)
      tail.more()
    }
    for (const task of listed) {
      if ((isRunning(task) || isBad(task)) && !this.#unfolded.has(task.key))
        this.#unfolded.set(task.key, true)
    }
    this.#bySession.set(session, all)
  }

  #change(session: string, key: string, next: Task): void {
    const tasks = this.#bySession.get(session) ?? []
    this.#bySession.set(
      session,
      tasks.map((task) => (task.key === key ? next : task)),
    )
  }
}
