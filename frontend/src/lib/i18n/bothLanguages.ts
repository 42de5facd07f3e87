/** Gives each file of tests both languages at once. */
import { provideChinese, setLanguage } from './i18n.svelte'
import { chinese } from '../chinese'

provideChinese(() => Promise.resolve(chinese))
await setLanguage('zh-CN')
await setLanguage('en')
