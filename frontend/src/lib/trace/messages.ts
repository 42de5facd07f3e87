import { translator } from '../i18n/i18n.svelte'

export const messages = {
  none: 'Open a session to see what took its time.',
  empty: 'Nothing was asked in this session yet.',
  more: 'Only the newest part of the session is shown.',
  turn: 'Turn at {time}',
  asked: 'models {time}',
  waited: 'waited for you {time}',
  request: 'Request',
  tool: 'Tool',
  mcp: 'MCP server',
  wait: 'Your answer',
  hook: 'Hook',
  compaction: 'Compaction',
  failed: 'failed',
  running: 'running',
} as const

export const own = translator('trace/messages', messages)
