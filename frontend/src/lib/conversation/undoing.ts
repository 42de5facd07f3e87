import { translator } from '../i18n/i18n.svelte'

/** The words about what was undone, redone and taken back. */
export const messages = {
  undone: { one: 'Undone: {n} file', other: 'Undone: {n} files' },
  undone_turn: {
    one: 'Undone: {n} file of turn {turn}',
    other: 'Undone: {n} files of turn {turn}',
  },
  reverted: { one: 'Reverted in Changes: {n} file', other: 'Reverted in Changes: {n} files' },
  taken: { one: 'Taken: {n} file', other: 'Taken: {n} files' },
  redone: { one: 'Redone: {n} file', other: 'Redone: {n} files' },
  left: {
    one: '{n} file had a conflict; that part was left as it is.',
    other: '{n} files had conflicts; those parts were left as they are.',
  },
  redo: 'Redo…',
  undo: 'Undo…',
  rewound: { one: '{n} turn was rewound.', other: '{n} turns were rewound.' },
  show: 'Show',
  hide: 'Hide',
  bring_back: 'Bring back',
} as const

export const undoing = translator('conversation/undoing', messages)
