import type { Translated } from '../i18n/i18n.svelte'
import type { messages } from './messages'

export const zhCN: Translated<typeof messages> = {
  empty:
    '本会话启动的智能体会列在这里，包括它们在做什么、用了多少、花费多少。你可以停止其中任何一个，也可以给它发消息。',
  tree: '本会话的智能体',
  root: '本会话',
  limits: '最多四个同时工作，它们共用本会话的预算和规则。',
  working: '{n} 个在工作',
  together: '合计 {spent}',
  step: '当前：{step}',
  thinking: '模型正在回答',
  general: '通用',
  stop: '停止',
  stop_named: '停止智能体：{title}',
  message: '发消息',
  message_named: '给智能体发消息：{title}',
  message_label: '发给智能体的消息：{title}',
  message_hint_working: '它会在正在运行的工具结束后读到消息。',
  message_hint_rest: '这条消息将成为它的下一个任务。',
  send: '发送',
  sent: '给 {title} 的消息已发出。',
}
