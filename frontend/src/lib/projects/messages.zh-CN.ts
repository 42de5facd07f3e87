import type { Translated } from '../i18n/i18n.svelte'
import type { messages } from './messages'

export const zhCN: Translated<typeof messages> = {
  label: '项目',
  switch: '项目：{project}。切换项目',
  find: '查找项目',
  none: '没有匹配的项目。',
  open: '打开文件夹…',
  here: '本窗口',
  here_page: '本标签页',
  missing: '找不到',
  waits: '{n} 个会话等你决定',
  forget: '从列表中移除',
  forget_key: '按 Delete 从列表中移除',
  opening: '正在打开 {path}…',
  back: '项目',
  path: '文件夹',
  path_hint: '完整路径，或从主文件夹开始的路径：~/src/shop',
  own_page:
    '在新标签页中打开，由单独的服务提供，随本服务一同结束。通过 SSH 使用时，也要转发它的端口。',
  submit: '打开',
  blocked: '浏览器没有允许打开新标签页。',
  go: '打开项目',
  copy: '复制地址',
}
