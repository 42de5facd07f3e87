/** The jumps in a conversation: to its start and its end, and from prompt to prompt or from error to error. */
import { tick } from 'svelte'
import { entryOf } from '../find/places'
import type { Entry } from '../model/entries'
import { seqFrom } from '../model/seqs'
import type { Conversation } from '../state/conversation.svelte'
import type { Passage } from '../state/passage.svelte'
import type { Landmark, LandmarkReply } from '../types.gen'
import type { Jump } from '../ui/jumps'
import type { Listed } from './listed.svelte'

/** How many frames a row may take until it is drawn, and how many it may then still move. */
const patience = 40
const settling = 4
/** How long the mark of a target and the word about a jump stay, in milliseconds. */
const lasting = 2000

const frame = () => new Promise(requestAnimationFrame)

/** The result of a jump: a target, or nothing in that direction. */
export type Said = { jump: Jump | 'call'; entry?: Entry | undefined; none?: true }

/** What jumps need of the pane. */
export type Stage = {
  pane: () => HTMLElement | undefined
  listed: Listed
  /** Gives the focus to the list. */
  takeFocus: () => void
  /** Scrolls an entry into view. */
  reveal: (key: string, align: 'start' | 'center') => Promise<void>
  toEnd: () => void
}

/** Gives the focus to the list again if it is in a list that another passage is about to replace. */
export function keepFocus(
  _passage: Passage,
  pane: HTMLElement | undefined,
  focus: () => void,
): void {
  const focused = document.activeElement
  if (!(focused instanceof HTMLElement) || !isInList(focused, pane)) return
  focused.blur()
  void tick().then(focus)
}

const isInList = (focused: Element, pane: HTMLElement | undefined) =>
  Boolean(focused.closest('[role=log]') && pane?.contains(focused))

function isInView(row: HTMLElement): boolean {
  const view = row.closest('[role=log]')!.getBoundingClientRect()
  const { top, bottom } = row.getBoundingClientRect()
  return bottom > view.top && top < view.bottom
}

const searches: Partial<Record<Jump, [Landmark, back: boolean]>> = {
  previous_prompt: ['prompt', true],
  next_prompt: ['prompt', false],
  previous_error: ['error', true],
  next_error: ['error', false],
}

export class Jumps {
  /** The result of the last jump, for a moment. */
  said = $state.raw<Said>()
  #target?: { key: string; seq: number } | undefined
  #isLanding = false
  #run = 0
  #last: Promise<void> = Promise.resolve()
  #silence?: ReturnType<typeof setTimeout>

  constructor(
    private readonly conversation: Conversation,
    private readonly stage: Stage,
  ) {}

  /** Jumps once the jumps before it have found their targets. */
  go(jump: Jump): Promise<void> {
    const run = ++this.#run
    this.#last = this.#last.then(() => this.#go(jump, run))
    return this.#last
  }

  /** Goes to a tool call or a command, which is searched for unless an event of it is known, and moves the focus to its card. Without one it goes to the message before an event. */
  goToCall(call: string, seq?: number): Promise<void> {
    const run = ++this.#run
    this.#last = this.#last.then(async () => {
      const { log } = this.conversation
      await this.conversation.opened
      const newest = this.conversation.view.seq + 1
      const found = !call
        ? await log.landmark('prompt', (seq ?? 0) + 1, true)
        : seq
          ? { seq, of: call }
          : await log.landmark('call', newest, true, call)
      await this.#arrive('call', run, found)
    })
    return this.#last
  }

  async #go(jump: Jump, run: number): Promise<void> {
    const { pane, listed, takeFocus, toEnd } = this.stage
    // The row with the focus may be far away from the target.
    if (isInList(document.activeElement ?? document.body, pane())) takeFocus()
    const search = searches[jump]
    if (search) {
      const [landmark, back] = search
      const found = await this.conversation.log.landmark(landmark, this.#from(back), back)
      return this.#arrive(jump, run, found)
    }
    this.#target = undefined
    if (jump === 'newest') toEnd()
    else if (await this.conversation.log.reach(1)) {
      await tick()
      listed.show(0, 'start')
    }
    this.#say({ jump })
  }

  /** Goes to what a search found. It returns once the passage with it is shown, before that is drawn. */
  async #arrive(jump: Said['jump'], run: number, found?: LandmarkReply): Promise<void> {
    const { log } = this.conversation
    if (found?.seq && !(await log.reach(found.seq))) return
    const { seq = 0, kind = 'error', of = '' } = found ?? {}
    const entry = entryOf(log.shown.view.entries, { seq, kind, of })
    if (!found || !entry) return this.#say({ jump, none: true })
    this.#target = { key: entry.key, seq }
    this.#isLanding = true
    this.#say({ jump, entry })
    const align = jump.endsWith('prompt') ? 'start' : 'center'
    void this.#land(entry.key, align, run, jump === 'call')
  }

  /** Where a search begins: at the last target while it is in view, else at the top of the view. */
  #from(back: boolean): number {
    const row = this.#target && this.#row(this.#target.key)
    const isHere = this.#isLanding || (row && isInView(row))
    if (this.#target && isHere) return this.#target.seq
    const { listed } = this.stage
    return seqFrom(listed.rows, listed.first(), back) ?? this.conversation.log.shown.view.seq
  }

  /** Draws a target and marks it, and focuses it if it should be, unless another jump follows. */
  async #land(
    key: string,
    align: 'start' | 'center',
    run: number,
    focuses: boolean,
  ): Promise<void> {
    await this.stage.reveal(key, align)
    for (let n = 1, still = 0; n <= patience && still < settling; n++) {
      await frame()
      if (run !== this.#run) return
      const row = this.#row(key)
      if (row && isInView(row)) {
        still++
        row.dataset.landed = ''
        setTimeout(() => delete row.dataset.landed, lasting)
      } else if (n % 8 === 0) await this.stage.reveal(key, align)
    }
    this.#isLanding = false
    if (focuses) this.#row(key)?.querySelector('button')?.focus({ preventScroll: true })
  }

  #row = (key: string) =>
    this.stage.pane()?.querySelector<HTMLElement>(`[data-entry="${CSS.escape(key)}"]`)

  #say(said: Said): void {
    clearTimeout(this.#silence)
    this.said = said
    this.#silence = setTimeout(() => (this.said = undefined), lasting)
  }

  end(): void {
    this.#run++
    clearTimeout(this.#silence)
  }
}
