import { expect, test } from 'vitest'
import { commandOf, commands, keysOf } from '../model/keymap'
import { panelAt, panelKeys } from './panelKeys'
import { shortcuts } from './shortcuts'

const press = (key: string, held: Partial<KeyboardEventInit> = {}) =>
  new KeyboardEvent('keydown', { key, ...held })

test.each([
  ['Digit1', { key: '1' }, 0],
  ['Digit9', { key: '9' }, 8],
  ['Digit0', { key: '0' }, 9],
  ['Digit2', { key: '™' }, 1], // what Alt+2 types on a Mac
  ['Digit5', { key: '(' }, 4], // a French keyboard
  ['Numpad1', { key: '1' }, undefined],
  ['KeyA', { key: 'a' }, undefined],
  ['Digit1', { key: '1', ctrlKey: true }, undefined],
  ['Digit1', { key: '!', shiftKey: true }, undefined],
  ['Digit1', { key: '1', altKey: false }, undefined],
])('Alt with %s %j leads to the panel at %s', (code, held, want) => {
  expect(panelAt(new KeyboardEvent('keydown', { altKey: true, code, ...held }))).toBe(want)
})

test('the keys that are shown for a panel are those that lead to it', () => {
  for (let at = 0; at < 10; at++) {
    const [, digit] = /^Alt\+(\d)$/.exec(panelKeys(at)) ?? []
    expect(panelAt(press(digit!, { altKey: true, code: `Digit${digit}` }))).toBe(at)
  }
})

test.each([
  ['l', { altKey: true }, 'model'],
  ['t', { altKey: true }, 'effort'],
  ['ArrowUp', { altKey: true, shiftKey: true }, 'previous_session'],
  ['ArrowDown', { altKey: true, shiftKey: true }, 'next_session'],
  ['ArrowDown', { altKey: true }, 'next_message'],
  ['/', { ctrlKey: true }, 'help'],
  ['t', { altKey: true, ctrlKey: true }, undefined],
  ['ArrowDown', { altKey: true, shiftKey: true, ctrlKey: true }, undefined],
] as const)('%s with %j asks for %s', (key, held, want) => {
  expect(commandOf(press(key, held), keysOf({}))).toBe(want)
})

const lines = shortcuts.flatMap(({ lines }) => lines)

test('every command has a line in the help', () => {
  const own = lines.flatMap((line) => ('command' in line ? [line.command] : []))
  expect(own.sort()).toEqual([...commands].sort())
})

test('no two entries of the help have the same name', () => {
  const labels = lines.map(({ label }) => label)
  expect(new Set(labels).size).toBe(labels.length)
})
