import { translator } from '../i18n/i18n.svelte'

export const messages = {
  en: {
    reading: 'Reading…',
    drop: 'Remove: {filter}',
    refused: 'The clipboard refused the text. Select it and press Ctrl+C.',
    not_loaded: 'This part of the page could not be loaded.',
    not_loaded_next:
      'Check that Atelier is still running, then try again. If Atelier was updated in the meantime, reload the page.',
  },
  'zh-CN': {
    reading: '正在读取…',
    drop: '移除：{filter}',
    refused: '剪贴板拒绝了这段文字。请选中后按 Ctrl+C。',
    not_loaded: '无法加载页面的这一部分。',
    not_loaded_next:
      '请确认 Atelier 仍在运行，然后重试。如果 Atelier 在此期间更新过，请重新加载页面。',
  },
} as const

export const own = translator(messages)
