import type { Translated } from '../i18n/i18n.svelte'
import type { messages } from './messages'

export const zhCN: Translated<typeof messages> = {
  empty: '智能体留在后台运行的命令（例如服务器或文件监视）及其输出会列在这里。',
  name: '任务 {id}',
  show: '在面板中查看',
  running: '运行中',
  stopping: '正在停止…',
  exited: '退出码 {code}',
  stopped: '已停止',
  timed_out: '到达时限，已结束',
  session_ended: '已随会话结束',
  became: '{command}：{state}',
  by_agent: '来自“{title}”',
  stop: '停止',
  stop_named: '停止 {command}',
  open: '打开 :{port}',
  open_named: '打开 :{port}（{command}），在浏览器中',
  output: '{command} 的输出',
  earlier: '更早的输出不再显示。',
}
