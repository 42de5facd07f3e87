import { expect, test } from 'vitest'
import { asQuote, keyOf } from './keys'
import { placesIn } from './links'

const press = (keys: string) => {
  const parts = keys.split('+')
  return new KeyboardEvent('keydown', {
    code: parts.at(-1)!,
    ctrlKey: parts.includes('Ctrl'),
    shiftKey: parts.includes('Shift'),
    altKey: parts.includes('Alt'),
    metaKey: parts.includes('Meta'),
  })
}

test.each([
  ['Ctrl+Shift+KeyC', 'copy'],
  ['Ctrl+Shift+Enter', 'tell'],
  ['F6', 'window'],
  ['Shift+F6', 'window'],
  ['Ctrl+Backquote', 'window'],
  ['Alt+Digit1', 'window'],
  // The shell has every other key, also those that the window would take elsewhere.
  ['Ctrl+KeyC', undefined],
  ['Ctrl+KeyK', undefined],
  ['Ctrl+KeyB', undefined],
  ['Alt+KeyB', undefined],
  ['Escape', undefined],
  ['Tab', undefined],
  ['Enter', undefined],
  ['Ctrl+Alt+Shift+KeyC', undefined],
])('%s is %s', (keys, expected) => {
  expect(keyOf(press(keys))).toBe(expected)
})

test('a quotation stays in its block, whatever it contains', () => {
  expect(asQuote('\n  $ make   \nok\n')).toBe('```console\n  $ make\nok\n```\n')
  expect(asQuote('```\nx')).toBe('````console\n```\nx\n````\n')
})

test('files of the project are links, at their columns', () => {
  expect(placesIn('error: src/login.ts:12:3 is wrong')).toEqual([
    { place: { path: 'src/login.ts', line: 12 }, text: 'src/login.ts:12:3', from: 8, to: 24 },
  ])
  expect(placesIn('see /etc/passwd.txt:1 and example.com:80')).toEqual([])
})
