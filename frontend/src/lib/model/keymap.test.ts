import { describe, expect, test } from 'vitest'
import {
  type Choice,
  commandOf,
  commands,
  conflictsOf,
  keysOf,
  keysOfPress,
  presets,
  readKeys,
  refusal,
  shown,
  withKeys,
} from './keymap'

const press = (key: string, held: Partial<KeyboardEventInit> = {}) =>
  ({
    key,
    ...{ code: '', ctrlKey: false, altKey: false, metaKey: false, shiftKey: false },
    ...held,
  }) as KeyboardEvent

test.each([
  ['k', { ctrlKey: true }, 'Ctrl+K'],
  ['K', { metaKey: true, shiftKey: true }, 'Ctrl+Shift+K'],
  ['ArrowUp', { altKey: true }, 'Alt+Up'],
  ['¬', { altKey: true, code: 'KeyL' }, 'Alt+L'], // a Mac
  ['ö', { ctrlKey: true, code: 'Backquote' }, 'Ctrl+`'], // a German keyboard
  ['?', { shiftKey: true, code: 'Slash' }, '?'],
  ['F6', { shiftKey: true }, 'Shift+F6'],
  ['Control', { ctrlKey: true }, undefined],
  ['Dead', {}, undefined],
] as const)('a press of %s with %j is %s', (key, held, want) =>
  expect(keysOfPress(press(key, held))).toBe(want),
)

test.each([
  ['ctrl+shift+p', 'Ctrl+Shift+P'],
  ['Shift + Ctrl + p', 'Ctrl+Shift+P'],
  ['Cmd+ArrowUp', 'Ctrl+Up'],
  ['Ctrl++', 'Ctrl++'],
  ['alt+pgdn', 'Alt+PageDown'],
  ['f12', 'F12'],
  ['Hyper+A', undefined],
  ['', undefined],
  ['Ctrl+', undefined],
])('%j is read as %s', (written, want) => expect(readKeys(written)).toBe(want))

test.each([
  ['Tab', 'reserved'],
  ['Alt+3', 'reserved'],
  ['A', 'typed'],
  ['Shift+A', 'typed'],
  ['?', undefined],
  ['Shift+F6', undefined],
  ['Ctrl+A', undefined],
])('%s is refused as %s', (keys, why) => expect(refusal(keys)).toBe(why))

// A person's keys replace those of the preset (OC-05); what the file has wrong changes nothing else.
describe('a choice', () => {
  const asked: [string, Choice, KeyboardEvent, string | undefined][] = [
    ['the usual keys', {}, press('k', { ctrlKey: true }), 'palette'],
    ['a preset', { preset: 'code' }, press('F1'), 'palette'],
    ['an unknown preset', { preset: 'x' }, press('k', { ctrlKey: true }), 'palette'],
    ['own keys', { keys: { new: ['alt+x'] } }, press('x', { altKey: true }), 'new'],
    ['the keys before', { keys: { new: ['alt+x'] } }, press('n', { altKey: true }), undefined],
    ['no keys', { keys: { palette: [] } }, press('k', { ctrlKey: true }), undefined],
    [
      'keys that mean nothing',
      { keys: { new: ['Foo+X', 'Alt+X'] } },
      press('x', { altKey: true }),
      'new',
    ],
    ['a letter', { keys: { new: ['x'] } }, press('x'), undefined],
    ['an unknown command', { keys: { fly: ['F4'] } }, press('F4'), undefined],
  ]
  test.each(asked)('%s', (_, choice, event, want) => {
    expect(commandOf(event, keysOf(choice))).toBe(want)
  })
})

test.each(Object.keys(presets))(
  'the preset %j has no conflicts, and keys that can be had',
  (preset) => {
    const all = keysOf({ preset })
    expect([...conflictsOf(all)]).toEqual([])
    const { [preset as '']: own } = presets
    for (const [command, keys] of Object.entries(own)) expect(all[command as 'new']).toEqual(keys)
  },
)

test('two commands of the same keys are a conflict, and the first one has them', () => {
  const all = keysOf({ keys: { terminal: ['Ctrl+K'] } })
  expect([...conflictsOf(all)]).toEqual([['Ctrl+K', ['palette', 'terminal']]])
  expect(commandOf(press('k', { ctrlKey: true }), all)).toBe('palette')
})

test('keys of other versions stay in the file', () => {
  const choice = { preset: 'code', keys: { fly: ['F4'] } }
  const changed = withKeys(choice, 'new', ['F7'])
  expect(changed).toEqual({ preset: 'code', keys: { fly: ['F4'], new: ['F7'] } })
  expect(withKeys(changed, 'new', undefined)).toEqual(choice)
})

test('arrows are shown as arrows', () => {
  expect(['Alt+Up', 'Alt+Shift+Down', 'Alt+PageUp', 'Ctrl+B'].map(shown)).toEqual([
    'Alt+↑',
    'Alt+Shift+↓',
    'Alt+PgUp',
    'Ctrl+B',
  ])
  expect(commands.length).toBe(new Set(commands).size)
})
