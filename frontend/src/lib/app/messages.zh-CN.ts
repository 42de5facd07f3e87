import type { Translated } from '../i18n/i18n.svelte'
import type { messages } from './messages'

export const zhCN: Translated<typeof messages> = {
  title_waiting: '▲ 等你决定 · {title}',
  title_running: '● 运行中 · {title}',
  title_failed: '✕ 失败 · {title}',
  notice_waiting: '等你决定 · {project}',
  notice_done: '已完成 · {project}',
  notice_failed: '失败 · {project}',
  slash_help: '显示快捷键和版本',
  slash_sessions: '转到会话列表',
  slash_new: '新建会话',
  slash_clear: '在新会话中从空上下文开始；此会话会保留',
  slash_usage: '显示会话的用量和费用',
  slash_context: '显示上下文的组成',
  slash_model: '选择另一个模型',
  slash_undo: '撤销最近一个回合对文件的更改',
  slash_redo: '恢复最近撤销的内容',
  slash_rewind: '回到最近一条消息之前',
  slash_exit: '关闭此窗口',
}
