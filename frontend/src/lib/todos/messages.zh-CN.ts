import type { Translated } from '../i18n/i18n.svelte'
import type { messages } from './messages'

export const zhCN: Translated<typeof messages> = {
  title: '智能体的任务',
  progress: '{done} / {of}',
  all_done: '所有任务都已完成。',
  show: '显示任务',
  hide: '隐藏任务',
}
