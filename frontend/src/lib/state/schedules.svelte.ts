import type {
  Envelope,
  ScheduleAction,
  ScheduleRun,
  SchedulesReply,
  ScheduleTask,
} from '../types.gen'
import { Resource } from './resource.svelte'

/** The prompts that run later in the project, and what became of each time. */
export class Schedules extends Resource {
  tasks = $state.raw<readonly ScheduleTask[]>([])
  /** The times, the newest first. */
  runs = $state.raw<readonly ScheduleRun[]>([])
  limit = $state(0)

  #take({ tasks = [], runs = [], limit }: SchedulesReply): void {
    this.tasks = tasks
    this.runs = runs
    this.limit = limit
  }

  readonly load = this.reading(
    () => this.call('schedules.list', {}),
    (reply) => this.#take(reply),
  )

  /** What the application tells of a change comes with what it tells of hooks. */
  receive(envelope: Envelope): void {
    if (this.loaded && envelope.events?.some(({ kind }) => kind === 'hooks_change'))
      void this.load()
  }

  async act(id: string, action: ScheduleAction): Promise<void> {
    if (this.busy) return
    await this.attempt(async () => this.#take(await this.call('schedules.change', { id, action })))
  }
}
