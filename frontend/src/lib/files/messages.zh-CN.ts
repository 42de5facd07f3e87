import type { Translated } from '../i18n/i18n.svelte'
import type { messages } from './messages'

export const zhCN: Translated<typeof messages> = {
  filter: '筛选文件',
  list: '项目的文件',
  empty: '项目中没有文件。',
  none: '没有路径包含此内容的文件。',
  more: '文件过多，未全部列出。',
  more_here: '另有 {n} 项未显示，可用筛选查找。',
  back: '所有文件',
  edit: '在编辑器中打开 {path}',
  blame: '谁写的',
  blame_hint: '谁写的。在某一行上按 W 查看详情。',
  empty_file: '文件为空。',
  lines_more: '显示更多行',
}
