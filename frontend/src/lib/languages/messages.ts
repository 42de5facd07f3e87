import { translator } from '../i18n/i18n.svelte'

export const messages = {
  title: 'Language servers',
  about:
    'They answer the agent’s questions about code. One starts when it is first needed, and ends when it is idle.',
  off: 'All language servers are switched off in the settings.',
  state_ready: 'not running; starts when needed',
  state_starting: 'starting…',
  state_running: 'running',
  state_failed: 'failed',
  state_off: 'switched off',
  on: 'Use the language server for {language}',
  restart: 'Restart',
  restart_named: 'Restart the language server for {language} in {root}',
} as const

export const own = translator('languages/messages', messages)
