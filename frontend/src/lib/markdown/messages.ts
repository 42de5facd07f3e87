import { translator } from '../i18n/i18n.svelte'

export const messages = {
  en: {
    unread: 'This formula cannot be read. {reason}',
    refused: 'This formula is not drawn, because it contains {command}.',
    too_large: 'This formula is too large to be drawn.',
    notes: 'Footnotes',
    note: 'Footnote {n}',
    back: 'Back to the text from footnote {n}',
  },
  'zh-CN': {
    unread: '无法识别此公式。{reason}',
    refused: '此公式含有 {command}，因此不予绘制。',
    too_large: '此公式过大，无法绘制。',
    notes: '脚注',
    note: '脚注 {n}',
    back: '从脚注 {n} 返回正文',
  },
} as const

export const own = translator(messages)
