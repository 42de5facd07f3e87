import type { Translated } from '../i18n/i18n.svelte'
import type { messages } from './messages'

export const zhCN: Translated<typeof messages> = {
  title: '智能体的任务',
  progress: '{done} / {of}',
  all_done: '所有任务都已完成。',
  show: '显示任务',
  hide: '隐藏任务',
  plan: '你批准的计划',
  plan_edited: '你编辑并批准的计划',
  copy: '复制计划',
  no_plan: '你在本会话中批准的计划会显示在这里。',
}
