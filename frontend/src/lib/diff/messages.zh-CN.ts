import type { Translated } from '../i18n/i18n.svelte'
import type { messages } from './messages'

export const zhCN: Translated<typeof messages> = {
  label: '{path} 的改动',
  file: '{path} 的内容',
  tools: '差异的显示方式',
  split: '分两栏显示',
  wrap: '长行自动换行',
  hide_spaces: '隐藏仅涉及空白的改动',
  add: '新增的第 {n} 行',
  del: '删除的第 {n} 行',
  same: '第 {n} 行',
  comment: '评论这一行',
  comment_on: '评论：{line}',
  unended: '末尾没有换行符',
  crlf: '所有行都以 CR LF 结尾。',
  crlf_line: '此行以 CR LF 结尾。',
  whole_line: '显示全部 {n} 个字符',
  unchanged: '{n} 行未改动',
  expand: '显示 {n} 行未改动的内容',
  expand_down: '显示后面 {n} 行',
  expand_up: '显示前面 {n} 行',
  only_spaces: '另有 {n} 处仅涉及空白的改动已隐藏。',
  cut: '另有 {n} 行未显示。',
}
