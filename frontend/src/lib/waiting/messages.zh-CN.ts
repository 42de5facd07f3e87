import type { Translated } from '../i18n/i18n.svelte'
import type { messages } from './messages'

export const zhCN: Translated<typeof messages> = {
  empty: '没有需要你处理的事项。所有会话及其智能体的问题都会汇集在这里。',
  agent: '{agent}（“{title}”的智能体）',
  of_servers: '服务器的问题',
  open: '打开会话',
  since: '提问时间：{time}',
  ruled: {
    one: '你的规则已回答另外 {n} 个请求。',
    other: '你的规则已回答另外 {n} 个请求。',
  },
}
