import type { Translated } from '../i18n/i18n.svelte'
import type { messages } from './messages'

export const zhCN: Translated<typeof messages> = {
  unread: '无法识别此公式。{reason}',
  refused: '此公式含有 {command}，因此不予绘制。',
  too_large: '此公式过大，无法绘制。',
  notes: '脚注',
  note: '脚注 {n}',
  back: '从脚注 {n} 返回正文',
  show_diagram: '显示图表',
  show_source: '显示源码',
  run: '放进你的终端',
  diagram: '图表：{title}',
  diagram_drawing: '正在绘制图表…',
  diagram_line: '无法绘制此图表：第 {line} 行无法识别。',
  diagram_unread: '无法绘制此图表：源码无法识别。',
  diagram_unknown: '不支持绘制此类图表。',
  diagram_large: '此图表过大，无法绘制。',
  diagram_slow: '绘制此图表用时过长，已停止。',
}
