import { expect, test } from 'vitest'
import { zoomOf } from './zoom'

const press = (key: string, more: KeyboardEventInit = {}) =>
  new KeyboardEvent('keydown', { key, ctrlKey: true, ...more })

test.each([
  ['+', 100, 110],
  ['=', 110, 125],
  ['+', 200, 200],
  ['+', 105, 110],
  ['-', 100, 90],
  ['_', 60, 50],
  ['-', 50, 50],
  ['0', 175, 100],
  ['1', 100, undefined],
])('Ctrl %s at %i %% asks for %s', (key, current, want) => {
  expect(zoomOf(press(key), current)).toBe(want)
})

test('without Ctrl or with Alt a key does not scale', () => {
  expect(zoomOf(press('+', { ctrlKey: false }), 100)).toBeUndefined()
  expect(zoomOf(press('0', { altKey: true }), 100)).toBeUndefined()
})
