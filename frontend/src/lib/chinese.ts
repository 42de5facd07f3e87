/** All Chinese texts, in one part that is loaded only for those who read it. */
import type { Chinese } from './i18n/i18n.svelte'
import * as fromGo from './i18n/problems.zh-CN'
import { reasons } from './i18n/reasons.zh-CN'
import { zhCN } from './i18n/zh-CN'

const parts = import.meta.glob<Chinese['messages'][string]>(['./*/*.zh-CN.ts', '!./i18n/*'], {
  eager: true,
  import: 'zhCN',
})
const fileOf = (path: string) => path.slice('./'.length, -'.zh-CN.ts'.length)

export const chinese: Chinese = {
  messages: {
    'i18n/en': zhCN,
    ...Object.fromEntries(Object.entries(parts).map(([path, own]) => [fileOf(path), own])),
  },
  fromGo,
  reasons,
}
