import { fireEvent, render, screen } from '@testing-library/svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import type { ComponentProps } from 'svelte'
import type { Call } from '../api'
import { Conversation } from '../state/conversation.svelte'
import Notice from './Notice.svelte'

type Entry = ComponentProps<typeof Notice>['entry']

beforeEach(() => setLanguage('en'))

function show(entry: Entry, props = {}) {
  const onbudget = vi.fn()
  render(Notice, {
    entry,
    awaited: false,
    newest: true,
    unfolded: false,
    ontoggle: () => {},
    onkeys: () => {},
    onbudget,
    onlog: () => {},
    conversation: new Conversation('s', (async () => ({})) as unknown as Call),
    ...props,
  })
  return onbudget
}

const limit: Entry = {
  type: 'notice',
  key: 'e1',
  notice: 'limit',
  limit: 'budget',
  count: 0,
  budget: 1,
  spent: 1.2,
}
const raise = () => screen.queryByRole('button', { name: 'Raise the budget' })

// OAS-115: a user whose session was stopped by the budget can raise it from there.
test('a notice about a spent budget offers to raise it', async () => {
  const onbudget = show(limit)
  await fireEvent.click(raise()!)
  expect(onbudget).toHaveBeenCalledOnce()
})

test.each<[string, Entry, object]>([
  ['an older notice', limit, { newest: false }],
  ['a notice about another limit', { ...limit, limit: 'rounds', count: 50 }, {}],
])('%s does not offer to raise the budget', (_, entry, props) => {
  show(entry, props)
  expect(raise()).toBeNull()
})

const repair = { type: 'notice', key: 'e1', notice: 'repair', message: 'The whole story.' } as const

test('a change of the model names the new one', () => {
  show({ type: 'notice', key: 'e1', notice: 'model', provider: 'acme', model: 'two' })
  screen.getByText('From here on two answers')
})

test('a harmless repair is one line with folded details', () => {
  show({ ...repair, repair: 'foreign' })
  screen.getByRole('button', { name: 'Another model continues from here', expanded: false })
  expect(screen.queryByText('The whole story.')).toBeNull()
})

test('a repair that changes what is sent shows its details', () => {
  show({ ...repair, repair: 'elided' })
  screen.getByText('Old outputs are sent shortened.')
  screen.getByText(/The whole story\./)
})

test('the label of a repair is translated', () => {
  setLanguage('zh')
  show({ ...repair, repair: 'pictures' }, { unfolded: true })
  screen.getByRole('button', { name: '图片以其他形式发送', expanded: true })
  screen.getByText('The whole story.')
})

test('a message from Atelier to the agent is one line with the message folded', () => {
  show({ type: 'notice', key: 'e1', notice: 'loop', calls: 6, message: 'Try something else.' })
  screen.getByRole('button', { name: /^The last 6 calls repeat themselves/, expanded: false })
  expect(screen.queryByText('Try something else.')).toBeNull()
})

const compaction = { type: 'notice', key: 'e1', notice: 'compaction', trigger: 'auto' } as const
const compacted = {
  trigger: 'auto' as const,
  outcome: 'done' as const,
  tokens_before: 105_000,
  tokens_after: 3000,
  duration_ms: 5,
}

// COM-18, COM-93
test.each<[string, Entry, string | RegExp]>([
  ['as it begins', compaction, 'The conversation is being compacted…'],
  ['as it summarises', { ...compaction, phase: 'summary_start' }, /is being summarised…/],
  ['without a summary', { ...compaction, end: compacted }, /from 105\.0 k to about 3\.0 k tokens/],
  ['stopped', { ...compaction, end: { ...compacted, outcome: 'interrupted' } }, /was stopped/],
  [
    'failed',
    { ...compaction, end: { ...compacted, outcome: 'failed', message: 'Too long.' } },
    /could not be compacted and is unchanged. Too long./,
  ],
])('a compaction %s', (_, entry, words) => {
  show(entry)
  screen.getByText(words)
})

test('the notice of a compaction unfolds to its summary', () => {
  const end = { ...compacted, summary: '## Goal' }
  show({ ...compaction, end }, { unfolded: true })
  screen.getByRole('button', { name: /^Compacted from 105/, expanded: true })
  screen.getByRole('heading', { name: 'Goal' })
})

// OAS-668: what a hook says to the user is not folded away; what it did is.
test('a hook speaks to the user', () => {
  const notice = { title: 'Built', body: 'It took 3 s.', level: 'warning' } as const
  const said = { said: 'The build is red.', notice, message: 'Folded.' }
  const hook = { point: 'stop', name: 'build', duration_ms: 3, ...said } as const
  show({ type: 'notice', key: 'e1', notice: 'hook', hook })
  screen.getByText('The build is red.')
  screen.getByText('Built')
  screen.getByText(/It took 3 s\./)
  expect(screen.queryByText('Folded.')).toBeNull()
})
