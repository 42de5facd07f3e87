import { SvelteMap } from 'svelte/reactivity'
import { asApiError, type ApiError, type Call } from '../api'
import type { UndoChoice, UndoPreview, UndoTarget } from '../types.gen'
import { leftOut } from '../model/restored'
import type { Message } from '../model/slash'
import { putBack } from './drafts.svelte'

/** What a person is asked to decide on: to undo or redo, or to go back to before a turn. */
export type UndoQuestion = {
  /** Empty if none is open: there is nothing to undo then. */
  session: string
  target: UndoTarget
  /** The first turn that a rewind takes back, 0 for the newest one; absent otherwise. */
  rewind?: number
  /** The message that began this turn, as far as it is known. */
  message?: string
  /** What is sent in place of the turns that a rewind takes back. */
  resend?: Message
}

/** What a rewind takes back. */
export type RewindPart = 'both' | 'conversation' | 'files'

/** Undoing: what is shown before it is done, and doing it. */
export class Undo {
  question = $state.raw<UndoQuestion>()
  /** What would be done to the files; undefined until it is read, and if there is nothing to do. */
  preview = $state.raw<UndoPreview>()
  problem = $state.raw<ApiError>()
  working = $state(false)
  /** What is chosen of the files, by path: at first each that has no conflict. */
  readonly chosen = new SvelteMap<string, UndoChoice>()
  #call: Call
  #answer?: (isDone: boolean) => void

  constructor(call: Call) {
    this.#call = call
  }

  /** Shows what undoing something would do. */
  async ask(question: UndoQuestion): Promise<void> {
    this.close()
    this.question = question
    await this.#look(question)
  }

  /**
   * Sends an edited prompt in place of a turn; false if the user decided against it. If files were changed
   * since, the user is asked whether they are restored too. Throws why it was not accepted.
   */
  async resend(session: string, turn: number, message: Message): Promise<boolean> {
    const question = { session, target: { since: turn }, rewind: turn, resend: message }
    const preview = await this.#read(question)
    if (!preview.files?.some(({ restorable }) => restorable)) {
      await this.#call('undo.resend', { session, turn, ...message })
      return true
    }
    this.close()
    this.question = question
    this.#show(preview)
    return new Promise((answer) => (this.#answer = answer))
  }

  close = (): void => this.#end(false)

  #end(isDone: boolean): void {
    this.question = undefined
    this.preview = undefined
    this.problem = undefined
    const answer = this.#answer
    this.#answer = undefined
    answer?.(isDone)
  }

  choose(path: string, choice: UndoChoice | undefined): void {
    if (choice) this.chosen.set(path, choice)
    else this.chosen.delete(path)
  }

  /** Does what was chosen; true once it is done. If a file has changed meanwhile, nothing is done, and everything is shown again. */
  async apply(part: RewindPart): Promise<boolean> {
    const { question, preview } = this
    if (!question || this.working) return false
    const files = [...this.chosen.values()]
    this.working = true
    this.problem = undefined
    try {
      const { session, rewind, resend } = question
      if (rewind !== undefined && resend !== undefined) {
        const chosen = part === 'conversation' ? [] : files
        await this.#call('undo.resend', { session, turn: rewind, ...resend, files: chosen })
      } else if (files.length > 0 && preview && part !== 'conversation') {
        await this.#call('undo.apply', { session, target: preview.target, files })
      }
      if (rewind !== undefined && resend === undefined && part !== 'files') {
        const { prompt } = await this.#call('undo.rewind', { session, turn: rewind })
        putBack(session, prompt)
      }
      if (this.question === question) this.#end(true)
      return true
    } catch (error) {
      const problem = asApiError(error)
      const isStale = problem.id === 'undo_stale'
      if (isStale) await this.#look(question, preview)
      if (this.question === question && (!isStale || this.preview)) this.problem = problem
      return false
    } finally {
      this.working = false
    }
  }

  /** Reads what would be done, and shows it. Parts that the user left out of an earlier preview stay left out. */
  async #look(question: UndoQuestion, before?: UndoPreview): Promise<void> {
    let preview: UndoPreview | undefined
    let problem: ApiError | undefined
    try {
      preview = await this.#read(question, before)
    } catch (error) {
      problem = asApiError(error)
    }
    if (this.question !== question) return
    this.#show(preview, before)
    this.problem = problem
  }

  async #read(question: UndoQuestion, before?: UndoPreview): Promise<UndoPreview> {
    const { session, target, rewind } = question
    if (!session) return { target }
    try {
      return await this.#call('undo.preview', { session, target: before?.target ?? target })
    } catch (error) {
      // A conversation can be taken back without files.
      if (rewind !== undefined && asApiError(error).id === 'undo_nothing') return { target }
      throw error
    }
  }

  #show(preview?: UndoPreview, before?: UndoPreview): void {
    const left = leftOut(before?.files ?? [], this.chosen)
    this.preview = preview
    this.chosen.clear()
    for (const { path, seal, restorable, reason } of preview?.files ?? []) {
      if (restorable && !reason && !left.has(path)) this.chosen.set(path, { path, seal })
    }
  }
}
