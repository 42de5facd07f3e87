import { translator } from '../i18n/i18n.svelte'

export const messages = {
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
} as const

export const own = translator('ui/messages', messages)
