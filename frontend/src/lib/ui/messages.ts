import { translator } from '../i18n/i18n.svelte'

export const messages = {
  en: {
    reading: 'Reading…',
    drop: 'Remove: {filter}',
    cut: 'only the beginning was kept',
    open_file: 'Open {file} in the editor',
    findings: 'Findings',
    at_line: 'line {n}',
    refused: 'The clipboard refused the text. Select it and press Ctrl+C.',
    not_loaded: 'This part of the page could not be loaded.',
    not_loaded_next:
      'Check that Atelier is still running, then try again. If Atelier was updated in the meantime, reload the page.',
  },
  'zh-CN': {
    reading: '正在读取…',
    drop: '移除：{filter}',
    cut: '只保留了开头',
    open_file: '在编辑器中打开 {file}',
    findings: '值得注意之处',
    at_line: '第 {n} 行',
    refused: '剪贴板拒绝了这段文字。请选中后按 Ctrl+C。',
    not_loaded: '无法加载页面的这一部分。',
    not_loaded_next:
      '请确认 Atelier 仍在运行，然后重试。如果 Atelier 在此期间更新过，请重新加载页面。',
  },
} as const

export const own = translator(messages)
