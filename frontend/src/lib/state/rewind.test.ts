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

  // Reading again gives the same.
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

/** An undo that is asked to send an edited prompt in place of turn 2. */
function resending(preview: object) {
  const called: string[] = []
  const undo = new Undo((async (method: string, args: unknown) => {
    called.push(`${method} ${JSON.stringify(args)}`)
    return preview
  }) as unknown as Call)
  return { undo, called, sent: undo.resend('s', 2, { text: 'better' }) }
}

const look = 'undo.preview {"session":"s","target":{"since":2}}'

test('OC-09: an edited prompt is sent at once if no files were changed since', async () => {
  const { undo, called, sent } = resending({ target: { since: 2 } })
  expect(await sent).toBe(true)
  expect(called).toEqual([look, 'undo.resend {"session":"s","turn":2,"text":"better"}'])
  expect(undo.question).toBeUndefined()
})

test('OC-09: files that were changed since are asked about, and stay unless they are chosen', async () => {
  const files = [{ path: 'a', seal: 'x', restorable: true, effect: 'changes' }]
  for (const part of ['conversation', 'both'] as const) {
    const { undo, called, sent } = resending({ target: { since: 2 }, files })
    await expect.poll(() => undo.preview).toBeDefined()
    expect(await undo.apply(part)).toBe(true)
    expect(await sent).toBe(true)
    const chosen = part === 'both' ? '[{"path":"a","seal":"x"}]' : '[]'
    expect(called).toEqual([
      look,
      `undo.resend {"session":"s","turn":2,"text":"better","files":${chosen}}`,
    ])
  }
  const { undo, called, sent } = resending({ target: { since: 2 }, files })
  await expect.poll(() => undo.preview).toBeDefined()
  undo.close()
  expect(await sent).toBe(false)
  expect(called).toEqual([look])
})
