import { translator } from '../i18n/i18n.svelte'

export const messages = {
  en: {
    title_waiting: '▲ Needs you · {title}',
    title_running: '● running · {title}',
    title_failed: '✕ failed · {title}',
    notice_waiting: 'Needs you · {project}',
    notice_done: 'Done · {project}',
    notice_failed: 'Failed · {project}',
  },
  'zh-CN': {
    title_waiting: '▲ 等你决定 · {title}',
    title_running: '● 运行中 · {title}',
    title_failed: '✕ 失败 · {title}',
    notice_waiting: '等你决定 · {project}',
    notice_done: '已完成 · {project}',
    notice_failed: '失败 · {project}',
  },
} as const

export const own = translator(messages)
