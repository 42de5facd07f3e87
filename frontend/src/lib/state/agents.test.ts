import { beforeEach, describe, expect, test } from 'vitest'
import type { Call } from '../api'
import { Log, sessionInfo } from '../model/testing'
import { Sessions } from './sessions.svelte'
import { Agents } from './agents.svelte'

const helper = { parent: 'p', folder: '/shop', rounds: 50 }

/** The log of a session that waits for an approval. */
function waiting(): Log {
  const log = new Log()
  log.add('user_input', { text: 'Remove it' })
  log.add('approval_request', {
    id: 'q1',
    call_id: 'c1',
    tool: 'Bash',
    input: '{"command":"rm x"}',
    reason: 'It removes a file.',
    access: { command: 'rm x' },
  })
  return log
}

/** The agents of session p: one asks, one works, one is at rest. */
async function follow() {
  const calls: [string, unknown][] = []
  const sessions = [
    sessionInfo('p'),
    sessionInfo('asks', { helper, state: 'awaiting_input', seq: 2 }),
    sessionInfo('works', { helper, state: 'processing', created_at: 2 }),
    sessionInfo('rests', { helper, created_at: 3, last_end: 'done' }),
    sessionInfo('others', { helper: { ...helper, parent: 'q' }, state: 'awaiting_input' }),
  ]
  const call = (async (method: string, args: { session?: string }) => {
    calls.push([method, args])
    if (method === 'sessions.list') return { sessions }
    if (method !== 'conversation.open') return {}
    const events = args.session === 'asks' ? waiting().durable : []
    return { session: sessions.find(({ id }) => id === args.session), events, draft: {} }
  }) as unknown as Call
  const list = new Sessions(call)
  await list.load()
  const agents = new Agents(list, call)
  agents.attend('p')
  await new Promise((resolve) => setTimeout(resolve))
  return { agents, calls, opened: () => calls.filter(([m]) => m === 'conversation.open') }
}

beforeEach(() => localStorage.clear())

describe('agents', () => {
  // LOOP-49: the user sees the questions of agents in the session that started them.
  test('that are busy are read, and their questions are answered in their sessions', async () => {
    const { agents, calls, opened } = await follow()
    expect(opened().map(([, args]) => (args as { session: string }).session)).toEqual([
      'asks',
      'works',
    ])
    const [question, ...others] = agents.questions('p')
    expect(others).toEqual([])
    expect(question).toMatchObject({ agent: { id: 'asks' }, request: { tool: 'Bash' } })
    await question!.conversation.answer('q1', { decision: 'deny' })
    const answer = { session: 'asks', approval: 'q1', answer: { decision: 'deny' } }
    expect(calls.at(-1)).toEqual(['conversation.answer', answer])
  })

  test('whose questions were answered elsewhere no longer ask', async () => {
    const { agents } = await follow()
    const log = waiting()
    const answer = { id: 'q1', call_id: 'c1', answer: { decision: 'allow' as const } }
    const event = log.add('approval_answer', answer)
    agents.receive({ session: 'asks', seq: 3, events: [event] })
    expect(agents.questions('p')).toEqual([])
  })

  test('are read once, and dropped when another session is opened', async () => {
    const { agents, opened } = await follow()
    agents.attend('p')
    agents.keep('p')
    expect(opened()).toHaveLength(2)
    agents.keep('q')
    expect(agents.conversation('asks')).toBeUndefined()
    expect(agents.questions('p')).toEqual([])
  })

  test('stay unfolded after a reload, up to a limit', async () => {
    const { agents } = await follow()
    agents.unfold('asks', true)
    for (let i = 0; i < 99; i++) agents.unfold(`a${i}`, true)
    expect((await follow()).agents.isUnfolded('asks')).toBe(true)
    agents.unfold('one more', true)
    agents.unfold('a98', false)
    const again = (await follow()).agents
    expect(['one more', 'a97', 'a98', 'rests'].map((id) => again.isUnfolded(id))).toEqual([
      true,
      true,
      false,
      false,
    ])
    localStorage.setItem('atelier.agents', '{no json')
    expect((await follow()).agents.isUnfolded('asks')).toBe(false)
  })
})
