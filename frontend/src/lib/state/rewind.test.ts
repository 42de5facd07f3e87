import { expect, test } from 'vitest'
import type { Call } from '../api'
import { historyOf, Log, sessionInfo } from '../model/testing'
import { fold } from '../model/sessions'
import type { Event, Span } from '../types.gen'
import { Conversation } from './conversation.svelte'
import { readDraft, writeDraft } from './drafts.svelte'
import { Undo } from './undo.svelte'

const envelope = (event: Event) => ({ session: 's', seq: event.seq!, events: [event] })

/** A conversation of two prompts, which is open. */
async function open() {
  const log = new Log()
  for (const text of ['a', 'b']) log.add('user_input', { text })
  const call = async (method: string, args: object) => {
    if (method !== 'conversation.open') return historyOf(log, args)
    const events = log.durable
    return { session: events.reduce(fold, sessionInfo('s')), events }
  }
  const conversation = new Conversation('s', call as unknown as Call)
  await conversation.open()
  return { log, conversation }
}

const prompts = ({ left }: Conversation) =>
  left.entries.flatMap((entry) => (entry.type === 'prompt' ? [entry.text] : []))

test('OC-09: a rewind and its end are followed while the conversation is open', async () => {
  const { log, conversation } = await open()
  conversation.receive(envelope(log.add('conversation_rewound', { id: 'r', to: 1, turns: 1 })))
  expect(prompts(conversation)).toEqual(['a'])

  // What is read again says the same.
  await conversation.open()
  expect(conversation.info?.rewound).toEqual([{ id: 'r', from: 1, to: 3 } satisfies Span])
  conversation.receive(envelope(log.add('conversation_rewind_undone', { id: 'r' })))
  expect(prompts(conversation)).toEqual(['a', 'b'])
})

test('a page that missed a rewind reads it from the session', async () => {
  const { log, conversation } = await open()
  log.add('conversation_rewound', { id: 'r', to: 1, turns: 1 })
  await conversation.open()
  expect(prompts(conversation)).toEqual(['a'])
})

test('the prompt that was taken back joins the draft, and files stay unless they were chosen', async () => {
  const called: string[] = []
  const undo = new Undo((async (method: string, args: unknown) => {
    called.push(`${method} ${JSON.stringify(args)}`)
    return method === 'undo.rewind' ? { id: 'r', prompt: 'b' } : { target: { since: 2 } }
  }) as unknown as Call)
  writeDraft('s', 'Mine')
  await undo.ask({ session: 's', target: { since: 2 }, rewind: 2 })
  expect(await undo.apply('conversation')).toBe(true)
  expect(called).toEqual([
    'undo.preview {"session":"s","target":{"since":2}}',
    'undo.rewind {"session":"s","turn":2}',
  ])
  expect(readDraft('s')).toBe('Mine\n\nb')
})
