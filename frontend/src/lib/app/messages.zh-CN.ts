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
  slash_compact: '总结对话中较早的部分',
  slash_btw: '就当前对话提问，对话保持原样',
  slash_fork: '将会话复制为新会话',
  slash_export: '将会话保存为文档',
  slash_init: '写好一条提示词，让模型为此项目编写 AGENTS.md',
  init_prompt:
    '通读此项目并编写 AGENTS.md；如果已有，则加以改进：写下编程智能体在这里工作需要知道的内容。列出构建、测试和检查的命令、项目结构，以及代码中看不出的约定。保持简短。',
  slash_remember: '为所有会话记住一件事',
  slash_history: '查找之前发送的消息',
}
