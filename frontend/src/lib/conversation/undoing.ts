import { translator } from '../i18n/i18n.svelte'

/** The words about what was undone, redone and taken back. */
const messages = {
  en: {
    undone: { one: 'Undone: {n} file', other: 'Undone: {n} files' },
    undone_turn: {
      one: 'Undone: {n} file of turn {turn}',
      other: 'Undone: {n} files of turn {turn}',
    },
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
  },
  'zh-CN': {
    undone: '已撤销：{n} 个文件',
    undone_turn: '已撤销：第 {turn} 回合的 {n} 个文件',
    taken: '已采用：{n} 个文件',
    redone: '已重做：{n} 个文件',
    left: '{n} 个文件有冲突，冲突部分保持不变。',
    redo: '重做…',
    undo: '撤销…',
    rewound: '已撤回 {n} 个回合。',
    show: '显示',
    hide: '隐藏',
    bring_back: '恢复',
  },
} as const

export const undoing = translator(messages)
