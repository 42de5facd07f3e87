/** Which rows of a conversation show their actions, and how the focus walks from row to row. */
import { tick } from 'svelte'
import type { Attachment } from 'svelte/attachments'
import { MediaQuery } from 'svelte/reactivity'
import { rowKey } from '../model/pieces'
import { indexNear, type Row } from '../model/rows'

/** In a pane of this width there is room for buttons beside the prose. */
const roomy = 960

/** How many frames a row may take until it is drawn. */
const patience = 40

const frame = () => new Promise(requestAnimationFrame)

/** The attribute with the key of a row: in the conversation of the pane, or in that of an agent within it. */
type Mark = 'item' | 'nested'

/** The row around something, or only if it is the nearest one of any conversation. */
function rowOf(target: EventTarget | null, mark: Mark, isNearest = false): HTMLElement | undefined {
  if (!(target instanceof Element)) return undefined
  const row = target.closest<HTMLElement>(`[data-${mark}]`)
  const isIt = row && (!isNearest || target.closest('[data-item], [data-nested]') === row)
  return isIt ? row : undefined
}

type List = {
  rows: () => readonly Row[]
  /** Scrolls a row into view. */
  show: (index: number) => void
  /** The row to begin at; undefined is the last one. */
  begin: () => string | undefined
  /** Leaves the list. */
  leave: () => void
}

export class Walk {
  /** The row that has the focus, or in which something has it. */
  at = $state<string>()
  /** The row that has the focus itself. */
  focused = $state<string>()
  /** Whether the buttons have room beside the rows. */
  isRoomy = $state(false)
  /** Whether the device has no pointer that could hover. All rows show their menu then. */
  readonly #touch = new MediaQuery('(hover: none)')
  // A row may be drawn in pieces. Its actions are shown by one of them: these are keys of pieces, and of whole rows.
  /** The row under the pointer. */
  #pointed = $state<string>()
  /** The row in which something has the focus of the keyboard. */
  #inside = $state<string>()
  /** The row whose menu is open. */
  #held = $state<string>()
  #pane?: HTMLElement
  #list: List
  readonly #mark: Mark

  constructor(list: List, mark: Mark = 'item') {
    this.#list = list
    this.#mark = mark
  }

  get isTouch(): boolean {
    return this.#touch.current
  }

  /** Whether a row, or a piece of one, shows the actions. */
  shows = (key: string): boolean =>
    (this.isTouch && key === rowKey(key)) ||
    [this.at, this.#pointed, this.#inside, this.#held].includes(key)

  /** Goes to the next row (1) or to the previous one (-1); past the last row it leaves the list. */
  step(by: 1 | -1): void {
    const rows = this.#list.rows()
    const here = this.#keyOf(document.activeElement)
    const from = rows.findIndex(({ key }) => key === (here ?? this.#list.begin()))
    if (from < 0) return void this.go(rows.length - 1)
    // From something inside a row, or from outside the list, the way back leads to the row itself.
    const isOn = here !== undefined && (by > 0 || here === this.at)
    const to = isOn ? from + by : from
    if (to >= rows.length) this.#list.leave()
    else void this.go(Math.max(0, to))
  }

  /** Whether a step leads to a row, not out of the list. */
  leads(by: 1 | -1): boolean {
    const here = this.#keyOf(document.activeElement)
    const rows = this.#list.rows()
    if (here === undefined) return by < 0 && rows.length > 0
    return rows[rows.findIndex(({ key }) => key === here) + by] !== undefined
  }

  /** Gives a row the focus; -1 is the last one. */
  async go(index: number): Promise<void> {
    const row = this.#list.rows().at(index)
    if (!row) return
    const isAsked = () => this.at === row.key
    this.at = row.key
    this.#pointed = undefined
    await tick()
    for (let frames = 0; frames < patience && isAsked(); frames++) {
      const index = this.#list.rows().findIndex(({ key }) => key === row.key)
      if (index < 0) return
      const drawn = this.#drawn(row.key)
      drawn?.focus({ preventScroll: true })
      if (frames === 0 || !drawn) this.#list.show(index)
      if (drawn) return
      await frame()
    }
  }

  /** Goes from the buttons of a row to the row itself. */
  back = (key: string) => void this.go(this.#list.rows().findIndex((row) => row.key === key))

  leave = () => this.#list.leave()

  /** Keeps the actions of a row while its menu is open, and until the focus returned from it. */
  async hold(key: string, isOpen: boolean): Promise<void> {
    if (isOpen) this.#held = key
    else {
      await frame()
      await frame()
      if (this.#held === key) this.#held = undefined
    }
  }

  /** Takes the rows before they are drawn. If the row with the focus is not among them, another one takes the focus. */
  follow(rows: readonly Row[]): void {
    const key = this.#pane?.contains(document.activeElement) && this.#keyOf(document.activeElement)
    if (!key || rows.some((row) => row.key === key)) return
    const near = indexNear(rows, key)
    void tick().then(() => this.go(near))
  }

  #drawn = (key: string) =>
    this.#pane?.querySelector<HTMLElement>(
      `[data-${this.#mark}="${CSS.escape(key)}"] > [role=group]`,
    )

  #pieceOf = (target: EventTarget | null, isNearest = false) =>
    rowOf(target, this.#mark, isNearest)?.dataset[this.#mark]

  #keyOf = (target: EventTarget | null, isNearest = false) => {
    const key = this.#pieceOf(target, isNearest)
    return key === undefined ? undefined : rowKey(key)
  }

  /** Follows the pointer and the focus in the pane. */
  attach: Attachment<HTMLElement> = (pane) => {
    this.#pane = pane
    const room = new ResizeObserver(() => (this.isRoomy = pane.clientWidth >= roomy))
    room.observe(pane)
    const listening = new AbortController()
    const { signal } = listening
    let last = { x: -1, y: -1 }
    const point = (event: PointerEvent) => {
      // Rows that move under a pointer at rest do not show their actions, so nothing flickers.
      if (event.clientX === last.x && event.clientY === last.y) return
      last = { x: event.clientX, y: event.clientY }
      const row = event.buttons === 0 ? rowOf(event.target, this.#mark, true) : undefined
      this.#pointed = row && !isSelected(row) ? row.dataset[this.#mark] : undefined
    }
    const press = (event: PointerEvent) => {
      if (event.pointerType === 'touch') this.#pointed = this.#pieceOf(event.target, true)
    }
    const enter = ({ target }: FocusEvent) => {
      const element = target as Element
      const isKeyboard = element.matches(':focus-visible')
      if (isKeyboard) this.#pointed = undefined
      const isShown = isKeyboard || element.closest('[data-actions]')
      const key = this.#keyOf(target, true)
      this.#inside = isShown ? this.#pieceOf(target, true) : undefined
      if (key !== this.at) this.at = undefined
      this.focused = element.matches('[role=group]') ? this.at : undefined
    }
    const exit = ({ target, relatedTarget }: FocusEvent) => {
      if (relatedTarget instanceof Node && pane.contains(relatedTarget)) return
      const [key, piece] = [this.#keyOf(target), this.#pieceOf(target)]
      // Later, because the row may be about to be removed: state must not change while rows are drawn.
      queueMicrotask(() => {
        if (pane.contains(document.activeElement)) return
        if (piece === this.#inside) this.#inside = undefined
        if (key === this.at) this.at = this.focused = undefined
      })
    }
    pane.addEventListener('pointermove', point, { signal })
    pane.addEventListener('pointerdown', press, { signal })
    const leave = () => {
      this.#pointed = undefined
      last = { x: -1, y: -1 } // a pointer that comes back has moved, wherever it comes back to
    }
    pane.addEventListener('pointerleave', leave, { signal })
    pane.addEventListener('focusin', enter, { signal })
    pane.addEventListener('focusout', exit, { signal })
    return () => {
      room.disconnect()
      listening.abort()
    }
  }
}

/** Whether the user selected some text of a row. */
function isSelected(row: Node): boolean {
  const selection = getSelection()
  return Boolean(selection && !selection.isCollapsed && selection.containsNode(row, true))
}
