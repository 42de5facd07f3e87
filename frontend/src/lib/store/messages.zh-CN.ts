import type { Translated } from '../i18n/i18n.svelte'
import type { messages } from './messages'

export const zhCN: Translated<typeof messages> = {
  offer: '有 {n} 个会话属于已不存在的 {folder}，它们似乎属于这里。',
  offer_marker: '它是磁盘上的同一个文件夹。',
  offer_root: '两个仓库始于同一个提交。',
  offer_name: '两个文件夹同名。',
  bring: '移到这里',
  leave: '留在那里',
  brought: '已移入 {folder} 的 {n} 个会话。',
  take_back: '撤销',
  accept: '我知道了',
}
