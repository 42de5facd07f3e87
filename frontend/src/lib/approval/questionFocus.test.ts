import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { QuestionFocus } from './questionFocus'

beforeEach(() => {
  vi.useFakeTimers()
  document.body.innerHTML =
    '<section tabindex="0"></section><textarea></textarea><input aria-label="Elsewhere" />'
})
afterEach(() => vi.useRealTimers())

const element = (name: string) => document.querySelector<HTMLElement>(name)!
const focused = () => document.activeElement?.tagName.toLowerCase()

/** Asks a question, answers it, and waits for a time until the next question. */
function answerOne(focus: QuestionFocus, gapMs: number, meanwhile = () => {}) {
  const next = () => element('section').focus()
  const composer = () => element('textarea').focus()
  focus.move(next, composer)
  element('section').blur()
  focus.move(undefined, composer)
  expect(focused()).toBe('textarea')
  vi.advanceTimersByTime(gapMs)
  meanwhile()
  focus.move(next, composer)
  return focused()
}

test('the focus moves to the next question, also after a gap', () => {
  expect(answerOne(new QuestionFocus(), 0)).toBe('section')
  expect(answerOne(new QuestionFocus(), 9000)).toBe('section')
})

test('the focus stays in the composer after a long gap', () => {
  expect(answerOne(new QuestionFocus(), 11_000)).toBe('textarea')
})

test('the focus stays where the user types or went', () => {
  const field = element('textarea') as HTMLTextAreaElement
  expect(answerOne(new QuestionFocus(), 500, () => (field.value = 'Also'))).toBe('textarea')
  expect(answerOne(new QuestionFocus(), 500, () => element('input').focus())).toBe('input')
})

test('the first question does not take the focus from the composer', () => {
  const focus = new QuestionFocus()
  const composer = () => element('textarea').focus()
  focus.move(undefined, composer)
  focus.move(() => element('section').focus(), composer)
  expect(focused()).toBe('textarea')
})
