import type { Translated } from '../i18n/i18n.svelte'
import type { messages } from './undoing'

export const zhCN: Translated<typeof messages> = {
  undone: '已撤销：{n} 个文件',
  undone_turn: '已撤销：第 {turn} 回合的 {n} 个文件',
  reverted: '已在更改面板中还原：{n} 个文件',
  taken: '已采用：{n} 个文件',
  redone: '已重做：{n} 个文件',
  left: '{n} 个文件有冲突，冲突部分保持不变。',
  redo: '重做…',
  undo: '撤销…',
  rewound: '已撤回 {n} 个回合。',
  show: '显示',
  hide: '隐藏',
  bring_back: '恢复',
}
