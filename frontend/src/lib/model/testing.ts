/** Events and sessions for tests. */
import type { ToolEntry } from './entries'
import type { Event, Part, SessionInfo, Usage } from '../types.gen'

type Kind = Event['kind']
type Data<K extends Kind> = Extract<Event, { kind: K }>['data']

const deltas: readonly Kind[] = [
  'reasoning_delta',
  'assistant_text_start',
  'assistant_text_delta',
  'tool_call_draft',
  'tool_call_output_delta',
  'local_command_output_delta',
  'rate_limit',
]

/** A log that numbers durable events, as the store does. */
export class Log {
  readonly events: Event[] = []
  #seq = 0

  add<K extends Kind>(kind: K, data: Data<K>): Event {
    const seq = deltas.includes(kind) ? undefined : ++this.#seq
    const event = { session_id: 's', seq, turn: 1, at: 1000 + this.events.length, kind, data }
    this.events.push(event as Event)
    return event as Event
  }

  get durable(): Event[] {
    return this.events.filter((event) => event.seq !== undefined)
  }
}

export const noUsage: Usage = {
  input: 0,
  cache_read: 0,
  cache_write: 0,
  output: 0,
  reasoning: 0,
  known: false,
}

export const message = (parts: Part[], reason: 'stop' | 'tool_calls' | 'length' = 'stop') => ({
  message: { role: 'assistant' as const, parts },
  usage: { ...noUsage, input: 10, cache_read: 5, output: 3, known: true },
  finish: { reason },
  provider: 'demo',
  model: 'tour',
})

export const text = (value: string): Part => ({ kind: 'text', text: value })
export const toolCall = (id: string, name: string): Part => ({
  kind: 'tool_call',
  call: { id, name, arguments: '' },
})

/** A complete turn with text and a call that needs approval and is allowed. */
export function sampleTurn(): Log {
  const log = new Log()
  log.add('user_input', { text: 'List it' })
  log.add('assistant_text_start', {})
  log.add('reasoning_delta', { text: 'Hm.', offset: 0 })
  log.add('assistant_text_delta', { text: 'I ', offset: 0 })
  log.add('assistant_text_delta', { text: 'look.', offset: 2 })
  log.add('tool_call_draft', { call_id: 'c1', tool: 'Bash', bytes: 12 })
  log.add(
    'assistant_text_end',
    message(
      [{ kind: 'reasoning', reasoning: { text: 'Hm.' } }, text('I look.'), toolCall('c1', 'Bash')],
      'tool_calls',
    ),
  )
  const input = '{"command":"ls"}'
  log.add('tool_call_start', { call_id: 'c1', tool: 'Bash', input })
  log.add('approval_request', {
    id: 'a1',
    call_id: 'c1',
    tool: 'Bash',
    input,
    reason: 'It runs a command.',
    access: { command: 'ls' },
  })
  log.add('approval_answer', { id: 'a1', call_id: 'c1', answer: { decision: 'allow' } })
  log.add('tool_call_output_delta', { call_id: 'c1', text: 'one\n', offset: 0 })
  log.add('tool_call_output_delta', { call_id: 'c1', text: 'two\n', offset: 4 })
  log.add('tool_call_end', {
    call_id: 'c1',
    tool: 'Bash',
    output: 'one\ntwo\n',
    outcome: 'done',
    duration_ms: 7,
  })
  log.add('processing_end', { reason: 'done', rounds: 1, usage: noUsage })
  return log
}

/** An idle session. */
export const sessionInfo = (id: string, change: Partial<SessionInfo> = {}): SessionInfo => ({
  id,
  title: id,
  folder: '/shop',
  state: 'idle',
  settings: { provider: 'demo', model: 'tour', mode: 'default' },
  created_at: 1,
  updated_at: 1,
  seq: 0,
  usage: { ...noUsage, known: true },
  context: 0,
  messages: 0,
  ...change,
})

/** A call that is done. */
export const callOf = (
  tool: string,
  input: Record<string, unknown>,
  change: Partial<ToolEntry> = {},
): ToolEntry => ({
  type: 'tool',
  key: 'c',
  callId: 'c',
  tool,
  input: JSON.stringify(input),
  status: 'done',
  output: '',
  outputFrom: 0,
  startedAt: 0,
  ...change,
})

/** A page of a log, as the application answers conversation.history. */
export function historyOf(
  log: Log,
  { after = 0, before, limit = 200 }: { after?: number; before?: number; limit?: number },
): { events: Event[]; more: boolean } {
  const all = log.durable.filter(({ seq = 0 }) => seq > after && seq < (before ?? Infinity))
  return { events: before ? all.slice(-limit) : all.slice(0, limit), more: all.length > limit }
}
