import { grammars } from '../markdown/engine.svelte'
import { settingsBody } from '../settings/part'
import { panels } from './panels'

/** What the first screen lacks, in the order in which it is loaded once the page is idle. */
export const later = [grammars, settingsBody, ...panels.map(({ view }) => view)]
