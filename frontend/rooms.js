import { readdirSync } from 'node:fs'

/**
 * The folders of src/lib, in the order of their imports: each may import from the folders before it, but
 * not from those after it, so there are no cycles between them.
 *
 * - model: pure TypeScript that runs without a page
 * - i18n: the messages, and the translations of what Go reports
 * - state: the mutable state, as runes; it reaches the application through an Api
 * - ui and markdown: components that every feature uses
 * - the features, each of which draws one part of the page
 * - app: the window, which passes to a feature what it needs of another
 */
export const rooms = [
  'model',
  'i18n',
  'state',
  'ui',
  'markdown',
  'projects',
  'transcripts',
  'share',
  'sessions',
  'cost',
  'tasks',
  'schedules',
  'catalog',
  'rules',
  'diff',
  'tools',
  'agents',
  'asked',
  'approval',
  'trust',
  'hooks',
  'languages',
  'mcp',
  'skills',
  'waiting',
  'todos',
  'composer',
  'queue',
  'changes',
  'files',
  'branches',
  'terminal',
  'undo',
  'find',
  'actions',
  'conversation',
  'context',
  'trace',
  'memory',
  'aside',
  'runs',
  'work',
  'settings',
  'guide',
  'search',
  'palette',
  'permissions',
  'store',
  'app',
]

const unknown = readdirSync(new URL('src/lib', import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !rooms.includes(entry.name))
  .map(({ name }) => name)
if (unknown.length > 0) throw new Error(`rooms.js does not list ${unknown.join(', ')}`)
