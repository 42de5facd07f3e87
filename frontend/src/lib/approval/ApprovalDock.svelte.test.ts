import { fireEvent, screen } from '@testing-library/svelte'
import { flushSync, tick } from 'svelte'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Call } from '../api'
import { setLanguage } from '../i18n/i18n.svelte'
import { apply } from '../model/reducer'
import { Log } from '../model/testing'
import type { Agents } from '../state/agents.svelte'
import { Approvals } from '../state/approvals.svelte'
import { Attention } from '../state/attention.svelte'
import { Conversation } from '../state/conversation.svelte'
import type { Answer, ApprovalRequest, Risk } from '../types.gen'
import { renderInApp } from '../ui/testing'
import ApprovalDock from './ApprovalDock.svelte'

/** Reorders what follows it. */
const hidden = String.fromCodePoint(0x202e)

const ask = (id: string, risk: Risk, change: Partial<ApprovalRequest> = {}): ApprovalRequest => ({
  id,
  call_id: `call-${id}`,
  tool: 'Bash',
  input: `{"command":"do ${id}","timeout":120000}`,
  reason: 'A command can change anything.',
  reason_code: 'command',
  access: { command: `do ${id}` },
  outlook: { risk, effects: [{ id: 'deletes', args: [`dist${hidden}`, 'x'], more: 2 }] },
  claim: `Tidy ${hidden} up`,
  ...change,
})

let given: [string, Answer][]
let delivers: boolean
let conversation: Conversation
let log: Log
let written: string
let stop = () => {}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  setLanguage('en')
  document.body.innerHTML = '<textarea data-composer aria-label="Message"></textarea>'
  given = []
  delivers = true
  written = ''
  log = new Log()
  const call = async (_: string, { approval, answer }: { approval: string; answer: Answer }) => {
    given.push([approval, answer])
    if (!delivers) throw new Error('lost')
    return {}
  }
  conversation = new Conversation('s', call as unknown as Call)
})
afterEach(() => {
  stop()
  vi.useRealTimers()
})

const composer = () => document.querySelector('textarea')!
const focused = () => document.activeElement
const card = () => screen.getByRole('region')
const press = (key: string) => fireEvent.keyDown(focused() ?? card(), { key })
const arm = async () => {
  vi.advanceTimersByTime(400)
  await tick()
}

async function happens() {
  conversation.log.newest.view = apply(conversation.view, [log.events.at(-1)!])
  await settle()
}
async function settle() {
  flushSync()
  await tick()
  await tick()
}
async function asks(...requests: ApprovalRequest[]) {
  for (const request of requests) {
    log.add('tool_call_start', { call_id: request.call_id, tool: 'Bash', input: request.input })
    await happens()
    log.add('approval_request', request)
    await happens()
  }
}
async function answered(id: string) {
  log.add('approval_answer', { id, call_id: `call-${id}`, answer: { decision: 'deny' } })
  await happens()
}

async function open() {
  composer().focus()
  let attention!: Attention
  const end = $effect.root(() => {
    attention = new Attention(() => conversation, { questions: () => [] } as unknown as Agents)
  })
  stop = end
  renderInApp(ApprovalDock as never, {
    attention,
    approvals: new Approvals((() => Promise.resolve({})) as unknown as Call),
    isWritten: () => written !== '',
    onleave: () => composer().focus(),
  })
  await settle()
}

test('shows the whole command, its effects, its limit and the claim, hiding nothing', async () => {
  await open()
  await asks(ask('one', 'elevated'))
  const shown = card().textContent.replace(/\s+/g, ' ')
  for (const part of [
    'Elevated risk',
    'do one',
    'Deletes files',
    'dist⟨U+202E⟩',
    'and 2 more',
    'stops after 2 min',
    'Tidy ⟨U+202E⟩ up',
  ]) {
    expect(shown).toContain(part)
  }
  expect(shown).not.toContain('timeout')
})

test.each<[Risk, boolean]>([
  ['low', true],
  ['elevated', true],
  ['dangerous', false],
])('the button of what is %s is filled: %s', async (risk, filled) => {
  await open()
  await asks(ask('one', risk))
  const allow = screen.getByRole('button', { name: 'Allow' })
  expect(allow.classList.contains('primary')).toBe(filled)
  const first = filled ? card() : screen.getByRole('button', { name: 'Deny' })
  expect(focused()).toBe(first)
})

test('nothing answers in the quiet period, and each press prolongs it', async () => {
  await open()
  composer().blur() // nobody was writing
  await asks(ask('one', 'low'))
  await press('Escape')
  vi.advanceTimersByTime(399)
  await press('d')
  vi.advanceTimersByTime(399)
  await fireEvent.click(screen.getByRole('button', { name: 'Allow' }), { detail: 1 })
  expect(given).toEqual([])
  await arm()
  await press('s')
  expect(given).toEqual([['one', { decision: 'allow', scope: 'session' }]])
})

test('a letter of a text answers nothing, and neither do those after it', async () => {
  await open()
  await asks(ask('one', 'low'))
  await arm()
  for (const key of 'please') await press(key)
  await press('a')
  expect(given).toEqual([])
})

test('the letters of a user who was writing go to the composer', async () => {
  await open()
  await asks(ask('one', 'low'))
  expect(focused()).toBe(card())
  await press('a')
  expect(focused()).toBe(composer())
  expect(given).toEqual([])
})

test('a draft, another field and a dialog keep the focus', async () => {
  await open()
  written = 'add'
  await asks(ask('one', 'low'))
  expect(focused()).toBe(composer())
  await answered('one')
  written = ''
  for (const markup of ['<input id="it">', '<div role="dialog"><button id="it"></button></div>']) {
    document.body.insertAdjacentHTML('beforeend', markup)
    const element = document.getElementById('it')!
    element.focus()
    await asks(ask(markup, 'dangerous'))
    expect(focused()).toBe(element)
    await answered(markup)
    ;(element.closest('[role=dialog]') ?? element).remove()
    composer().focus()
  }
})

test('one answer is enough, unless it could not be delivered', async () => {
  await open()
  await asks(ask('one', 'low'))
  await arm()
  await press('a')
  await press('d')
  expect(given).toEqual([['one', { decision: 'allow', scope: 'once' }]])
  delivers = false
  await answered('one')
  await asks(ask('two', 'low'))
  await arm()
  await press('d')
  await settle()
  await press('d')
  expect(given.slice(1).map(([id]) => id)).toEqual(['two', 'two'])
})

test('the second press of a double click is not for the question that it meets', async () => {
  await open()
  await asks(ask('one', 'low'))
  await arm()
  const allow = screen.getByRole('button', { name: 'Allow' })
  await fireEvent.click(allow, { detail: 2 })
  expect(given).toEqual([])
  await fireEvent.click(allow, { detail: 1 })
  expect(given).toEqual([['one', { decision: 'allow', scope: 'once' }]])
})

test('several are counted, arrows go between them, and each begins quietly', async () => {
  await open()
  await asks(ask('one', 'low'), ask('two', 'dangerous'), ask('three', 'elevated'))
  expect(card().textContent).toContain('1 of 3')
  await arm()
  await press('ArrowRight')
  await settle()
  expect(card().textContent).toContain('do two')
  expect(focused()).toBe(screen.getByRole('button', { name: 'Deny' }))
  await press('a')
  expect(given).toEqual([])
  await press('ArrowLeft')
  await settle()
  await press('ArrowLeft')
  await settle()
  expect(card().textContent).toContain('3 of 3')

  // An answer elsewhere removes a question; the shown one and the focus stay.
  await answered('one')
  expect(card().textContent).toContain('do three')
  expect(card().contains(focused())).toBe(true)
  await answered('three')
  expect(card().textContent).toContain('do two')
  expect(card().contains(focused())).toBe(true)
  await answered('two')
  expect(screen.queryByRole('region')).toBeNull()
  expect(focused()).toBe(composer())
})

test('feedback is typed without deciding, and goes with the denial', async () => {
  await open()
  await asks(ask('one', 'elevated'))
  await arm()
  await press('f')
  await settle()
  const field = screen.getByRole('textbox', { name: 'What should it do instead?' })
  expect(focused()).toBe(field)
  await press('a')
  await press('Escape')
  await settle()
  expect(focused()).toBe(card())
  await arm()
  await press('f')
  await settle()
  const again = screen.getByRole('textbox', { name: 'What should it do instead?' })
  await fireEvent.input(again, { target: { value: ' use trash ' } })
  expect(given).toEqual([])
  await fireEvent.submit(again.closest('form')!)
  expect(given).toEqual([['one', { decision: 'deny', feedback: 'use trash' }]])
})

test.each<[string, Partial<ApprovalRequest>, string[]]>([
  ['an ordinary call', {}, ['Always…', 'Allow for session']],
  ['what no rule can allow', { final: true }, ['Allow for session']],
  ['what is asked each time', { final: true, each_time: true }, []],
])('%s offers what its answer would keep', async (_, change, want) => {
  await open()
  await asks(ask('one', 'elevated', change))
  const all = ['Always…', 'Allow for session']
  const offered = all.filter((name) => screen.queryByRole('button', { name }))
  expect(offered).toEqual(want)
  await arm()
  for (const key of ['s', 'r']) await press(key)
  await settle()
  expect(given.length).toBe(want.includes('Allow for session') ? 1 : 0)
})

test('the mode or the rule that led to a question is named', async () => {
  await open()
  await asks(ask('one', 'low', { by: 'mode', mode: 'plan', each_time: true }))
  expect(card().textContent).toContain('The mode “Plan” asks about this.')
  await answered('one')
  const rule = { text: 'Bash(do *)', decision: 'ask', scope: 'project' } as const
  await asks(ask('two', 'low', { by: 'rule', rule, reason_code: 'rule_asks' }))
  expect(card().textContent).toContain('The rule Bash(do *), shared with the project, asks')
})

test.each<[string, Partial<ApprovalRequest>, string]>([
  ['a command', {}, 'covers exactly this command in the same folder'],
  [
    'an edit',
    { tool: 'Edit', access: { writes: ['/p/close.go'] } },
    'covers every Edit of close.go.',
  ],
  [
    'edits',
    { tool: 'ApplyPatch', access: { writes: ['/p/a.go', '/p/x/b.go', 'C:\\p\\c.go'] } },
    'covers every ApplyPatch of a.go and 2 other files.',
  ],
  ['a read', { tool: 'Read', access: { reads: ['/etc/hosts'] } }, 'every Read of hosts.'],
  ['typing', { access: { command: 'y\n', task: '3' } }, 'typing exactly this to task 3'],
  [
    'a tool of a server',
    {
      tool: 'mcp__ux__slow',
      access: {},
      origin: { server: 'ux', tool: 'slow', title: 'Slow one' },
    },
    'covers Slow one of ux with exactly these arguments',
  ],
  ['another tool', { tool: 'WebSearch', access: {} }, 'WebSearch with exactly these arguments'],
])('%s says what an answer for the session covers', async (_, change, want) => {
  await open()
  await asks(ask('one', 'elevated', change))
  expect(card().textContent.replace(/\s+/g, ' ')).toContain(want)
})

const edit: Partial<ApprovalRequest> = {
  tool: 'Edit',
  access: { writes: ['/p/a.go'] },
  by: 'mode',
  mode: 'default',
  reason_code: 'changes',
}

test.each<[string, Partial<ApprovalRequest>, boolean]>([
  ['an edit', edit, true],
  ['edits', { ...edit, reason_code: 'changes_more' }, true],
  ['an edit outside', { ...edit, reason_code: 'outside' }, false],
  ['an edit while planning', { ...edit, mode: 'plan', each_time: true }, false],
  ['an edit that a rule asks about', { ...edit, by: 'rule', reason_code: 'rule_asks' }, false],
  ['a secret', { ...edit, reason_code: 'secret', final: true }, false],
  ['a command', { by: 'mode', mode: 'default' }, false],
])('%s can be answered for all edits: %s', async (_, change, offered) => {
  await open()
  await asks(ask('one', 'low', change))
  expect(screen.queryByRole('button', { name: 'Allow all edits' }) !== null).toBe(offered)
  expect(card().textContent.includes('to “Accept edits”')).toBe(offered)
  await arm()
  await press('e')
  const want = { decision: 'allow', scope: 'once', mode: 'acceptEdits' }
  expect(given).toEqual(offered ? [['one', want]] : [])
})

test.each<[Partial<ApprovalRequest>, string[]]>([
  [{ origin: { server: 'ux', tool: 'slow' } }, ['ux wants to use slow', 'deletes nothing']],
  [
    { origin: { server: 'ux', tool: 'slow', title: 'Slow', description: 'Takes a while' } },
    ['ux wants to use Slow', 'The server says: Takes a while'],
  ],
  [{ origin: { server: 'u', tool: 't', read_only: true } }, ['u wants to use t', 'only reads']],
  [{ origin: { server: 'u', tool: 't', destructive: true } }, ['does not rule out']],
  [{}, ['ux wants to use slow']], // of an older log
])('OAS-407: the tool of a server %j is named in words', async (change, want) => {
  await open()
  const effects = [{ id: 'unknown' as const, args: ['mcp__ux__slow'] }]
  const outlook = { risk: 'elevated' as const, effects: change.origin ? effects : [] }
  await asks(ask('one', 'elevated', { tool: 'mcp__ux__slow', access: {}, outlook, ...change }))
  for (const part of want) expect(card().textContent.replace(/\s+/g, ' ')).toContain(part)
  expect(card().textContent).not.toContain('mcp__')
  expect(card().getAttribute('aria-label')).not.toContain('mcp__')
})
