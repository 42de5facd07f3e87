import type { Translated } from '../i18n/i18n.svelte'
import type { messages } from './messages'

export const zhCN: Translated<typeof messages> = {
  title: '语言服务器',
  about: '它们回答智能体关于代码的问题。首次需要时启动，空闲一段时间后结束。',
  off: '所有语言服务器都已在设置中关闭。',
  state_ready: '未运行，需要时启动',
  state_starting: '正在启动…',
  state_running: '运行中',
  state_failed: '失败',
  state_off: '已关闭',
  on: '使用 {language} 的语言服务器',
  restart: '重新启动',
  restart_named: '重新启动 {root} 中 {language} 的语言服务器',
}
