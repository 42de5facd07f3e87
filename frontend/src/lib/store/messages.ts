import { translator } from '../i18n/i18n.svelte'

export const messages = {
  en: {
    offer: {
      one: '{n} session of {folder}, which no longer exists, seems to belong here.',
      other: '{n} sessions of {folder}, which no longer exists, seem to belong here.',
    },
    offer_marker: 'It is the same folder on the disk.',
    offer_root: 'Both repositories begin with the same commit.',
    offer_name: 'Both folders have the same name.',
    bring: 'Move them here',
    leave: 'Leave them there',
    brought: {
      one: '{n} session of {folder} was moved here.',
      other: '{n} sessions of {folder} were moved here.',
    },
    take_back: 'Undo',
    accept: 'I have seen this',
  },
  'zh-CN': {
    offer: '有 {n} 个会话属于已不存在的 {folder}，它们似乎属于这里。',
    offer_marker: '它是磁盘上的同一个文件夹。',
    offer_root: '两个仓库始于同一个提交。',
    offer_name: '两个文件夹同名。',
    bring: '移到这里',
    leave: '留在那里',
    brought: '已移入 {folder} 的 {n} 个会话。',
    take_back: '撤销',
    accept: '我知道了',
  },
} as const

export const own = translator(messages)
