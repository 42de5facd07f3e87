import { expect, test } from 'vitest'
import type { Span } from '../types.gen'
import { emptyView, type Entry, type View } from './entries'
import { Head } from './head'
import { apply } from './reducer'
import { canBringBack, newestTurn, promptOf, standing, tookBack } from './rewound'
import { fold } from './sessions'
import { Log, message, noUsage, sessionInfo, text } from './testing'

const keys = (of: readonly Entry[]) => of.map(({ key }) => key)

/** A log with turns, of which some were taken back. */
class Story {
  readonly log = new Log()
  spans: readonly Span[] = []
  #turn = 0
  #session = sessionInfo('s')

  #add(...args: Parameters<Log['add']>): number {
    const event = this.log.add(...args)
    event.turn = this.#turn
    this.#session = fold(this.#session, event)
    this.spans = this.#session.rewound ?? []
    return event.seq!
  }

  /** Adds a turn, and returns the place of its prompt. */
  turn(ask: string): number {
    this.#turn++
    const seq = this.#add('user_input', { text: ask })
    this.#add('assistant_text_end', message([text(`To ${ask}`)]))
    this.#add('processing_end', { reason: 'done', rounds: 1, usage: noUsage })
    return seq
  }

  /** Takes back everything from a place on, and returns the key of the line that says so. */
  rewind(id: string, seq: number, turns: number): string {
    return `e${this.#add('conversation_rewound', { id, to: seq - 1, turns })}`
  }

  bringBack(id: string): void {
    this.#add('conversation_rewind_undone', { id })
  }

  get entries(): readonly Entry[] {
    return apply(emptyView, this.log.durable).entries
  }

  prompts = (shown?: ReadonlySet<string>) =>
    standing(this.entries, this.spans, shown).flatMap((entry) =>
      entry.type === 'prompt' ? [entry.text] : 'notice' in entry ? ['—'] : [],
    )
}

test('OC-09: turns that were taken back are one line, which shows them again', () => {
  const story = new Story()
  story.turn('a')
  const b = story.turn('b')
  story.turn('c')
  const line = story.rewind('r', b, 2)
  expect(story.prompts()).toEqual(['a', '—'])
  expect(story.entries.find(({ key }) => key === line)).toMatchObject({ id: 'r', turns: 2 })
  expect(story.prompts(new Set(['r']))).toEqual(['a', 'b', 'c', '—'])
  expect(newestTurn(story.entries, story.spans)).toBe(1)
  expect(canBringBack(story.entries, 'r', story.spans)).toBe(true)

  story.turn('d')
  expect(story.prompts()).toEqual(['a', '—', 'd'])
  expect(canBringBack(story.entries, 'r', story.spans)).toBe(false)
  expect(newestTurn(story.entries, story.spans)).toBe(4)
  expect([0, 2, 4].map((turn) => promptOf(story.entries, turn))).toEqual([undefined, 'b', 'd'])
})

test('a part within another one has no line of its own until that is shown', () => {
  const story = new Story()
  const a = story.turn('a')
  const b = story.turn('b')
  story.rewind('inner', b, 1)
  story.rewind('outer', a, 1)
  expect(story.prompts()).toEqual(['—'])
  expect(story.prompts(new Set(['outer']))).toEqual(['a', '—', '—'])
  expect(story.prompts(new Set(['outer', 'inner']))).toEqual(['a', 'b', '—', '—'])
  expect(tookBack(story.entries, `e${b}`, story.spans)).toEqual(['inner', 'outer'])
  expect(canBringBack(story.entries, 'inner', story.spans)).toBe(false)

  story.bringBack('outer')
  expect(story.prompts()).toEqual(['a', '—'])
  expect(canBringBack(story.entries, 'inner', story.spans)).toBe(true)
  story.bringBack('inner')
  expect(story.prompts()).toEqual(['a', 'b'])
  expect(tookBack(story.entries, `e${b}`, story.spans)).toEqual([])
})

test('parts that follow each other have a line each', () => {
  const story = new Story()
  story.turn('a')
  story.rewind('one', story.turn('b'), 1)
  story.rewind('two', story.turn('c'), 1)
  expect(story.prompts()).toEqual(['a', '—', '—'])
  expect(canBringBack(story.entries, 'one', story.spans)).toBe(true)
})

test('a line about restored files stays in sight', () => {
  const story = new Story()
  const a = story.turn('a')
  story.log.add('files_restored', { id: 'f' })
  story.rewind('r', a, 1)
  expect(story.prompts()).toEqual(['—', '—'])
})

test('entries without a place are taken back with their neighbours', () => {
  const spans = [{ id: 'r', from: 2, to: 9 }]
  const prompt: Entry = { type: 'prompt', key: 'e5', seq: 5, text: 'x' }
  const call = { ...prompt, key: 'ccall', seq: 0 }
  expect(standing([call, prompt, { ...call, key: 'cother' }], spans)).toEqual([])
  const untouched = [prompt]
  expect(standing(untouched)).toBe(untouched)
})

test('the same entries remain however the log is read: in one part, or in pages from its end', () => {
  // A generator with a seed, so that a failure can be repeated.
  let seed = 7
  const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below
  for (let round = 0; round < 200; round++) {
    const story = new Story()
    const begun = [story.turn('0')]
    for (let i = 1; i < 8; i++) {
      const pick = random(4)
      const left = begun.filter(
        (seq) => tookBack(story.entries, `e${seq}`, story.spans).length === 0,
      )
      if (pick === 0 && left.length > 0) story.rewind(`r${i}`, left[random(left.length)]!, 1)
      else if (pick === 1 && story.spans.length > 0) story.bringBack(story.spans.at(-1)!.id)
      else begun.push(story.turn(`${i}`))
    }
    const events = story.log.durable
    let to = events.length
    let view: View = { ...emptyView }
    let head = new Head()
    while (to > 0) {
      const from = Math.max(0, to - 1 - random(6))
      const page = events.slice(from, to)
      const older = apply(emptyView, page)
      view = to === events.length ? older : head.join(older, view)
      head = Head.of(page, head)
      to = from
    }
    const shown = new Set(story.spans.map(({ id }) => id).filter(() => random(2) === 0))
    expect(keys(standing(view.entries, story.spans, shown))).toEqual(
      keys(standing(story.entries, story.spans, shown)),
    )
    const taken = (seq: number) => story.spans.some((span) => span.from < seq && seq < span.to)
    expect(story.prompts().filter((words) => words !== '—')).toHaveLength(
      begun.filter((seq) => !taken(seq)).length,
    )
  }
})
