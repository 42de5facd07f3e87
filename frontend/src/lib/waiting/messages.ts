import { translator } from '../i18n/i18n.svelte'

export const messages = {
  en: {
    panel: 'Waiting',
    empty: 'Nothing waits for you. Questions of all sessions and their agents come together here.',
    agent: '{agent}, an agent of “{title}”',
    open: 'Open the session',
    since: 'waiting for {time}',
    ruled: {
      one: 'Your rule answered {n} other request.',
      other: 'Your rule answered {n} other requests.',
    },
    row: '{title}: {tool} {argument}. {risk}.',
  },
  'zh-CN': {
    panel: '等待中',
    empty: '没有需要你处理的事项。所有会话及其智能体的问题都会汇集在这里。',
    agent: '{agent}（“{title}”的智能体）',
    open: '打开会话',
    since: '已等待 {time}',
    ruled: {
      one: '你的规则已回答另外 {n} 个请求。',
      other: '你的规则已回答另外 {n} 个请求。',
    },
    row: '{title}：{tool} {argument}。{risk}。',
  },
} as const

export const own = translator(messages)
