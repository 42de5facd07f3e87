import { beforeEach, expect, test, vi } from 'vitest'
import { ApiError, type Call } from '../api'
import { setLanguage } from '../i18n/i18n.svelte'
import type { Entry } from '../model/entries'
import { Rows } from '../model/rows'
import { callOf, Log, message, noUsage, text, toolCall } from '../model/testing'
import { useClipboard } from '../state/clipboard'
import { Conversation } from '../state/conversation.svelte'
import { draftOwner, editedTurn, endEdit, readDraft, writeDraft } from '../state/drafts.svelte'
import type { Event } from '../types.gen'
import { actions, offeredFor } from './registry'

let copied: string[] = []

beforeEach(() => {
  setLanguage('en')
  endEdit('s')
  writeDraft('s', '')
  copied = []
  useClipboard({ copy: async (words) => void copied.push(words) })
})

const end = (log: Log, reason: 'done' | 'failed' = 'done') =>
  log.add('processing_end', { reason, rounds: 1, usage: noUsage })

/** A turn with a steering message, two answers and a call. */
function turn(log = new Log(), ask = 'Fix it'): Log {
  log.add('user_input', { text: ask })
  log.add('assistant_text_end', message([text('I look.'), toolCall('c1', 'Bash')], 'tool_calls'))
  log.add('tool_call_start', { call_id: 'c1', tool: 'Bash', input: '{"command":"ls"}' })
  log.add('steering_injected', { id: 'q1', text: 'Quickly' } as never)
  const output = '\u001b[1mone\u001b[0m\n'
  log.add('tool_call_end', {
    call_id: 'c1',
    tool: 'Bash',
    output,
    outcome: 'done',
    duration_ms: 7,
  })
  log.add('assistant_text_end', message([text('It is **done**.')]))
  return log
}

/** A conversation that was read from a log, as far as the page holds. */
async function open(log: Log, limit = 200, whole: Record<number, Event> = {}) {
  const asked: string[] = []
  const call = async (method: string, args: { before?: number; after?: number; seq?: number }) => {
    asked.push(method)
    const events = log.durable
    const isIdle = events.at(-1)?.kind === 'processing_end'
    switch (method) {
      case 'conversation.open': {
        const session = { id: 's', state: isIdle ? 'idle' : 'processing', seq: events.length }
        return { session, events: events.slice(-limit), more: events.length > limit }
      }
      case 'conversation.history': {
        const { before, after } = args
        if (after) return { events: events.filter((event) => event.seq! > after) }
        const older = events.filter((event) => event.seq! < before!)
        return { events: older.slice(-limit), more: older.length > limit }
      }
      default:
        if (whole[args.seq!]) return { event: whole[args.seq!] }
        throw new ApiError({ code: 'internal', message: 'Not read.' })
    }
  }
  const conversation = new Conversation('s', call as unknown as Call)
  await conversation.open()
  return { conversation, asked }
}

const names = (conversation: Conversation, row: Entry | undefined) =>
  offeredFor({ row: row!, conversation }).map(({ name }) => name)

const host = () => ({
  send: vi.fn(async () => true),
  compose: vi.fn(),
  fork: vi.fn(),
  undo: vi.fn(),
})

async function run(name: string, conversation: Conversation, row: Entry | undefined, to = host()) {
  const action = actions.find((action) => action.name === name)!
  const target = { row: row!, conversation }
  expect(action.offers(target)).toBe(true)
  return { ...to, done: await action.run(target, to) }
}

test('each row offers what works for it', async () => {
  const log = turn()
  log.add('local_command_start', { id: 'l1', command: 'make' })
  const { conversation } = await open(log)
  const offered = () =>
    conversation.view.entries.map((entry) => [entry.type, names(conversation, entry)])
  // Nothing is sent again while a turn runs.
  expect(offered()).toEqual([
    ['prompt', ['copy', 'edit', 'fork']],
    ['answer', ['copy', 'copyMarkdown', 'fork']],
    ['tool', ['copy', 'copyOutput']],
    ['prompt', ['copy', 'edit', 'fork']],
    ['answer', ['copy', 'copyMarkdown', 'fork']],
    ['command', ['copy']],
  ])
  end(log)
  await conversation.catchUp()
  expect(offered().filter(([type]) => type !== 'tool' && type !== 'command')).toEqual([
    ['prompt', ['copy', 'edit', 'retry', 'fork', 'rewind']],
    ['answer', ['copy', 'copyMarkdown', 'fork']],
    ['prompt', ['copy', 'edit', 'retry', 'fork']],
    ['answer', ['copy', 'copyMarkdown', 'retry', 'fork']],
    ['turn', ['copyMarkdown']],
  ])
})

test('a turn that failed is continued by its own button, not by its answer', async () => {
  const log = turn()
  end(log, 'failed')
  const { conversation } = await open(log)
  const last = () => conversation.view.entries.findLast(({ type }) => type === 'answer')
  const first = last()!
  expect(names(conversation, first)).not.toContain('retry')
  // A newer turn takes that button away.
  turn(log, 'Again')
  end(log)
  await conversation.catchUp()
  const answer = conversation.view.entries.find(({ key }) => key === first.key)
  expect(names(conversation, answer)).toContain('retry')
})

test('an answer sends the prompt of its turn again, not what steered it', async () => {
  const log = turn()
  end(log)
  const { conversation } = await open(log)
  const answer = conversation.view.entries.findLast(({ type }) => type === 'answer')
  const { send, compose } = await run('retry', conversation, answer)
  expect(send.mock.calls).toEqual([['Fix it', undefined]])
  expect(compose).toHaveBeenCalledOnce()
})

test('a message that is not accepted leaves the focus where it is', async () => {
  const log = turn()
  end(log)
  const { conversation } = await open(log)
  const to = { ...host(), send: vi.fn(async () => false) }
  const { done } = await run('retry', conversation, conversation.view.entries[0], to)
  expect(done).toBeUndefined()
  expect(to.compose).not.toHaveBeenCalled()
})

test.each([
  ['', 'Fix it', 'The message is in the message field.'],
  ['Draft', 'Draft\n\nFix it', 'The message is in the message field, below your draft.'],
  ['!ls', 'Fix it\n\n!ls', 'The message is in the message field, above your command.'],
])('editing a message that began no turn keeps the draft %j', async (draft, want, words) => {
  const log = turn(new Log(), 'Go')
  log.add('steering_injected', { id: 'q2', text: 'Fix it' } as never)
  const { conversation } = await open(log)
  writeDraft('s', draft)
  const { done, compose, send } = await run('edit', conversation, conversation.view.entries.at(-1))
  expect(readDraft('s')).toBe(want)
  expect(done).toEqual({ words })
  expect(compose).toHaveBeenCalledOnce()
  expect(send).not.toHaveBeenCalled()
})

test('OC-09: an earlier prompt is edited in its own draft, at rest only', async () => {
  const log = turn()
  const { conversation } = await open(log)
  writeDraft('s', 'Mine')
  const prompt = () => conversation.view.entries[0]
  const refused = await run('edit', conversation, prompt())
  expect(refused.done).toEqual({ words: expect.stringMatching(/Stop it with Esc/), isBad: true })
  expect(editedTurn('s')).toBeUndefined()

  conversation.receive({ session: 's', seq: 7, events: [end(log)] })
  const { compose } = await run('edit', conversation, prompt())
  expect(compose).toHaveBeenCalledOnce()
  expect([editedTurn('s'), readDraft(draftOwner('s')), readDraft('s')]).toEqual([
    1,
    'Fix it',
    'Mine',
  ])
  endEdit('s')
  expect([editedTurn('s'), readDraft(draftOwner('s'))]).toEqual([undefined, 'Mine'])
})

test('calls are copied as they are read', async () => {
  const log = turn()
  end(log)
  const { conversation } = await open(log)
  const row = conversation.view.entries.find(({ type }) => type === 'tool')
  expect((await run('copy', conversation, row)).done).toEqual({ words: 'Command copied' })
  await run('copyOutput', conversation, row)
  expect(copied).toEqual(['ls', 'one\n'])
  // A file keeps its bytes.
  const read = callOf('Read', { file_path: 'a' }, { output: 'a\rb\u001b[1m' })
  expect((await run('copy', conversation, read)).done).toEqual({ words: 'Input copied' })
  await run('copyOutput', conversation, read)
  expect(copied.slice(2)).toEqual(['{"file_path":"a"}', 'a\rb\u001b[1m'])
  const hidden = callOf('Bash', { command: 'rm \u202ex' })
  await run('copy', conversation, hidden)
  expect(copied.at(-1)).toBe('rm ⟨U+202E⟩x')
})

test('a text that was cut for display is copied, edited and sent whole', async () => {
  const log = new Log()
  log.add('user_input', { text: 'Long…', size: 9 })
  log.add('assistant_text_end', { ...message([text('**Lo**…')]), size: 9 })
  end(log)
  const whole = {
    1: { kind: 'user_input', data: { text: 'Long whole' } },
    2: { kind: 'assistant_text_end', data: message([text('**Long** whole')]) },
  } as unknown as Record<number, Event>
  const { conversation } = await open(log, 200, whole)
  const [prompt, answer, turned] = conversation.view.entries
  await run('copy', conversation, prompt)
  await run('copy', conversation, answer)
  await run('copyMarkdown', conversation, answer)
  await run('copyMarkdown', conversation, turned)
  expect(copied).toEqual([
    'Long whole',
    'Long whole',
    '**Long** whole',
    '> Long whole\n\n**Long** whole',
  ])
  await run('edit', conversation, prompt)
  expect(readDraft(draftOwner('s'))).toBe('Long whole')
  expect((await run('retry', conversation, answer)).send.mock.calls).toEqual([
    ['Long whole', undefined],
  ])
})

test('a text that cannot be read changes nothing, and the user is told', async () => {
  const log = new Log()
  log.add('user_input', { text: 'Long…', size: 9 })
  end(log)
  const { conversation } = await open(log)
  const [prompt, turned] = conversation.view.entries
  for (const row of [prompt, turned]) {
    const { done } = await run(row === prompt ? 'copy' : 'copyMarkdown', conversation, row)
    expect(done).toEqual({
      words: 'The text could not be read, so nothing was copied.',
      isBad: true,
    })
  }
  writeDraft('s', 'Draft')
  await run('edit', conversation, prompt)
  expect((await run('retry', conversation, prompt)).send).not.toHaveBeenCalled()
  expect(readDraft('s')).toBe('Draft')
  expect(copied).toEqual([])
  expect(conversation.problem?.message).toBe('Not read.')
})

test('a clipboard that refuses is reported', async () => {
  useClipboard({ copy: () => Promise.reject(new Error('denied')) })
  const { conversation } = await open(turn())
  const { done } = await run('copy', conversation, conversation.view.entries[0])
  expect(done).toMatchObject({
    isBad: true,
    words: expect.stringMatching(/^The clipboard refused/),
  })
})

test('the beginning of a turn that was not loaded is read before the turn is copied', async () => {
  const log = turn(new Log(), 'Before')
  end(log)
  turn(log)
  end(log)
  const { conversation } = await open(log, 2)
  const row = conversation.view.entries.at(-1)
  await run('copyMarkdown', conversation, row)
  expect(copied[0]).toMatch(/^> Fix it\n/)
  expect(copied[0]).not.toContain('Before')
})

test('the line of a folded turn copies all of the turn', async () => {
  const log = turn()
  end(log)
  const { conversation } = await open(log)
  const rows = new Rows().of(conversation.view.entries, '', conversation.folds)
  const fold = rows.find(({ type }) => type === 'fold')!
  const action = offeredFor({ row: fold, conversation })
  expect(action.map(({ name }) => name)).toEqual(['copyMarkdown'])
  await action[0]!.run({ row: fold, conversation }, host())
  expect(copied).toEqual(['> Fix it\n\nI look.\n\n- `Bash ls`\n\n> Quickly\n\nIt is **done**.'])
})

test('a fork begins at the event of the message, and not in the conversation of an agent', async () => {
  const { conversation } = await open(turn())
  const [prompt, answer] = conversation.view.entries
  const { fork } = await run('fork', conversation, prompt)
  expect(fork.mock.calls).toEqual([[{ session: 's', event: 1 }]])
  expect((await run('fork', conversation, answer)).fork.mock.calls).toEqual([
    [{ session: 's', event: 2 }],
  ])
  const nested = offeredFor({ row: prompt!, conversation, isNested: true })
  expect(nested.map(({ name }) => name)).not.toContain('fork')
})

test('OC-09: at rest, a prompt that began a turn and was not taken back is taken back', async () => {
  const log = turn()
  const { conversation } = await open(log)
  const prompt = () => conversation.view.entries.find(({ type }) => type === 'prompt')
  const steered = conversation.view.entries.findLast(({ type }) => type === 'prompt')
  expect(names(conversation, prompt())).not.toContain('rewind')
  conversation.receive({ session: 's', seq: 7, events: [end(log)] })
  expect(names(conversation, steered)).not.toContain('rewind')
  const { undo } = await run('rewind', conversation, prompt())
  expect(undo).toHaveBeenCalledWith({ target: { since: 1 }, rewind: 1, message: 'Fix it' })

  const rewound = log.add('conversation_rewound', { id: 'r', to: 0, turns: 1 })
  conversation.receive({ session: 's', seq: 8, events: [rewound] })
  expect(names(conversation, prompt())).not.toContain('rewind')
})
