import type { Translated } from '../i18n/i18n.svelte'
import type { messages } from './messages'

export const zhCN: Translated<typeof messages> = {
  title: '前往任意位置',
  field: '会话、命令、文件、模型、设置…',
  results: '结果',
  found: '{n} 个结果',
  none: '没有这样的名称。',
  search: '在所有会话的文本中搜索“{text}”',
  signs: '> 命令   # 会话   @ 文件   : 符号   / 提示词',
  kind_session: '会话',
  kind_command: '命令',
  kind_panel: '面板',
  kind_file: '文件',
  kind_symbol: '符号',
  kind_model: '模型',
  kind_setting: '设置',
  kind_prompt: '提示词',
}
