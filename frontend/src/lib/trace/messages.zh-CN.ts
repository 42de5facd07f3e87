import type { Translated } from '../i18n/i18n.svelte'
import type { messages } from './messages'

export const zhCN: Translated<typeof messages> = {
  none: '打开一个会话，即可查看时间花在哪里。',
  empty: '这个会话还没有提问。',
  more: '只显示会话最新的部分。',
  turn: '{time} 的轮次',
  asked: '模型 {time}',
  waited: '等待你 {time}',
  request: '请求',
  tool: '工具',
  mcp: 'MCP 服务器',
  wait: '你的答复',
  hook: '钩子',
  compaction: '压缩',
  failed: '失败',
  running: '进行中',
}
