import { translator } from '../i18n/i18n.svelte'

export const messages = {
  title: 'Go to anything',
  field: 'Session, command, file, model, setting…',
  results: 'Results',
  found: { one: '{n} result', other: '{n} results' },
  none: 'Nothing is called so.',
  search: 'Search the texts of all sessions for “{text}”',
  signs: '> commands   # sessions   @ files   : symbols   / prompts',
  kind_session: 'Session',
  kind_command: 'Command',
  kind_panel: 'Panel',
  kind_file: 'File',
  kind_symbol: 'Symbol',
  kind_model: 'Model',
  kind_setting: 'Setting',
  kind_prompt: 'Prompt',
} as const

export const own = translator('palette/messages', messages)
