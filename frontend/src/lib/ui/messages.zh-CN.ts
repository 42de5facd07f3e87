import type { Translated } from '../i18n/i18n.svelte'
import type { messages } from './messages'

export const zhCN: Translated<typeof messages> = {
  reading: '正在读取…',
  drop: '移除：{filter}',
  cut: '只保留了开头',
  open_file: '在编辑器中打开 {file}',
  findings: '值得注意之处',
  at_line: '第 {n} 行',
  refused: '剪贴板拒绝了这段文字。请选中后按 Ctrl+C。',
  not_loaded: '无法加载页面的这一部分。',
  not_loaded_next:
    '请确认 Atelier 仍在运行，然后重试。如果 Atelier 在此期间更新过，请重新加载页面。',
}
