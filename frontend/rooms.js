import { readdirSync } from 'node:fs'

/**
 * The folders of src/lib, from the one that knows nothing of the page to the one that puts it
 * together. Each imports from those before it and never from those after it, so that there are no
 * cycles between them:
 *
 * - model: pure TypeScript, which runs without a page
 * - i18n: the messages, and the words for what Go reports
 * - state: what changes, as runes; it talks to the application through api.ts
 * - ui and markdown: what every feature draws with
 * - the features, each a part of the page
 * - app: the window, which hands its parts what they need of each other
 */
export const rooms = [
  'model',
  'i18n',
  'state',
  'ui',
  'markdown',
  'sessions',
  'cost',
  'tasks',
  'catalog',
  'tools',
  'agents',
  'approval',
  'composer',
  'queue',
  'conversation',
  'settings',
  'app',
]

const unknown = readdirSync(new URL('src/lib', import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !rooms.includes(entry.name))
  .map(({ name }) => name)
if (unknown.length > 0) throw new Error(`rooms.js does not say where ${unknown} belongs`)
