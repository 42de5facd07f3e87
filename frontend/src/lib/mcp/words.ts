/** Says in words what servers are like. */
import { language, runsWords, tookWords } from '../i18n/i18n.svelte'
import { timeAgo } from '../model/format'
import { targetOf } from '../model/serverDraft'
import { markHidden } from '../model/visible'
import type { Scope, ServerFinding, ServerLogEntry, ServerRow } from '../types.gen'
import { fill } from '../i18n/fill'
import { findings, happenings } from './fromGo'
import { own } from './messages'

export const nameOf = ({ name }: { name: string }): string => markHidden(name)

const stateWords = ({ state }: Pick<ServerRow, 'state'>): string => own(`state_${state}`)

/** How long an answer took. */
export const latency = (us: number): string =>
  us < 10_000 ? `${(us / 1000).toFixed(1)} ms` : tookWords(us / 1000)

/** What is worth knowing at a glance, one phrase each. */
export function factsOf(row: ServerRow, now: number): string[] {
  const { state, health, counts } = row
  const phrases = [stateWords(row)]
  if (state === 'connected') {
    phrases.push(toolsWords(counts.tools, counts.tools_off ?? 0))
    if (health.latency_us) phrases.push(own('latency', { time: latency(health.latency_us) }))
    if (health.answered)
      phrases.push(own('answered', { ago: timeAgo(health.answered, now, language()) }))
  } else if (health.next && health.next > now) {
    phrases.push(own('next', { time: runsWords(1000 * Math.ceil((health.next - now) / 1000)) }))
  } else if (state === 'off' || state === 'refused' || state === 'shadowed') {
    phrases.push(markHidden(targetOf(row.draft)).slice(0, 200))
  }
  if (row.session_off) phrases.push(own('session_off'))
  return phrases
}

export const toolsWords = (count: number, off: number): string =>
  off > 0 ? own('tools_on', { on: count - off, n: count }) : own('tools', { n: count })

/** Whose servers those of a scope are. */
export const scopeWords = (scope: Scope): string =>
  scope === 'user' || scope === 'project' || scope === 'local'
    ? own(`scope_${scope}`)
    : own('scope_other')

const worded = (table: Record<string, string>, id = '', args: readonly string[] = []) =>
  language() === 'zh-CN' && Object.hasOwn(table, id) ? fill(table[id]!, args) : undefined

/** Findings in words, for a list of them. */
export const foundIn = (list: readonly ServerFinding[] = []) =>
  list.map(({ id, args, message }) => ({
    words: markHidden(worded(findings, id, args) ?? message),
  }))

/** What happened to a connection, or what the server logged. */
export const logWords = ({ id, args, text }: ServerLogEntry): string =>
  worded(happenings, id, args) ?? text
