import { translator } from '../i18n/i18n.svelte'

export const messages = {
  en: {
    panel: 'Running',
    empty:
      'Commands that the agent leaves running, such as a server or a watcher, are listed here with what they print.',
    name: 'task {id}',
    show: 'Show in the panel',
    running: 'running',
    stopping: 'Stopping…',
    exited: 'exit {code}',
    stopped: 'stopped',
    timed_out: 'ended at its time limit',
    session_ended: 'ended with the session',
    became: '{command}: {state}',
    by_agent: 'by {title}',
    stop: 'Stop',
    stop_named: 'Stop {command}',
    output: 'Output of {command}',
    earlier: 'Earlier output is not shown.',
  },
  'zh-CN': {
    panel: '运行中',
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
    output: '{command} 的输出',
    earlier: '更早的输出不再显示。',
  },
} as const

export const own = translator(messages)
