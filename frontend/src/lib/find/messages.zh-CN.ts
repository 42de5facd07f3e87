import type { Translated } from '../i18n/i18n.svelte'
import type { messages } from './messages'

export const zhCN: Translated<typeof messages> = {
  label: '在对话中查找',
  count: '第 {at} 处，共 {n} 处',
  count_more: '第 {at} 处，共超过 {n} 处',
  none: '未找到',
  taken_back: '另有 {n} 处已撤回',
  searching: '正在查找…',
  next: '下一处（F3）',
  previous: '上一处（Shift+F3）',
  close: '关闭（Esc）',
}
