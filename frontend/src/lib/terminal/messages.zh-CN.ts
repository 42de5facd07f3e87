import type { Translated } from '../i18n/i18n.svelte'
import type { messages } from './messages'

export const zhCN: Translated<typeof messages> = {
  terminals: '终端',
  input: '终端 {name}',
  new: '新建终端（Ctrl+Shift+T）',
  close: '关闭此终端及其中运行的程序（Ctrl+Shift+W）',
  copy: '复制所选内容（Ctrl+Shift+C）',
  tell: '把所选内容放进消息（Ctrl+Shift+Enter）',
  find: '在终端中查找（Ctrl+Shift+F）',
  find_next: '下一处（Enter）',
  find_previous: '上一处（Shift+Enter）',
  missing: '未找到',
  leave: '按 F6 离开终端',
  ended: 'shell 已结束，退出码 {code}。',
  over: '已结束',
  empty: '你自己的 shell，位于本会话的文件夹中。按 + 打开一个。',
  told: '所选内容已放进消息。',
  copied: '已复制。',
}
