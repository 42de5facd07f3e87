import { translator } from '../i18n/i18n.svelte'

export const messages = {
  en: {
    refused: 'The clipboard refused the text. Select it and press Ctrl+C.',
  },
  'zh-CN': {
    refused: '剪贴板拒绝了这段文字。请选中后按 Ctrl+C。',
  },
} as const

export const own = translator(messages)
