import { translator } from '../i18n/i18n.svelte'

export const messages = {
  en: {
    waiting: 'Needs you',
    running: 'Running',
    today: 'Today',
    yesterday: 'Yesterday',
    week: 'This week',
    lines: '+{added} −{removed} lines',
    branch: 'on {branch}',
    at_least: 'at least {amount}',
  },
  'zh-CN': {
    waiting: '等你决定',
    running: '运行中',
    today: '今天',
    yesterday: '昨天',
    week: '本周',
    lines: '+{added} −{removed} 行',
    branch: '分支 {branch}',
    at_least: '至少 {amount}',
  },
} as const

export const own = translator(messages)
