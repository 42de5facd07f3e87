import { fireEvent, render, screen } from '@testing-library/svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import type { Call } from '../api'
import { setLanguage } from '../i18n/i18n.svelte'
import { Changes } from '../state/changes.svelte'
import type { BlameReply, BlameStep, ChangedFile } from '../types.gen'
import FileDiff from './FileDiff.svelte'

beforeEach(() => {
  setLanguage('en')
  localStorage.clear()
  Element.prototype.scrollIntoView = () => {}
})

const step: BlameStep = {
  session: 'one',
  title: 'Add taxes\u202e',
  seq: 7,
  turn: 3,
  at: 1,
  kind: 'tool_call_end',
  call: 'c1',
  tool: 'Edit',
  authority: { decision: 'allow', by: 'person', mode: 'default' },
  made: { prompt: 'Add them', provider: 'openai', model: 'gpt', cost: { usd: 0.0125, unknown: 1 } },
}

const blame: BlameReply = {
  path: 'a.ts',
  total: 4,
  runs: [
    { from: 1, to: 1, by: 'earlier' },
    { from: 2, to: 3, by: 'step', unsure: true },
    { from: 4, to: 4, by: 'outside' },
  ],
  steps: [step],
}

const file: ChangedFile = { path: 'a.ts', state: 'modified', added: 2, removed: 1, staged: 'none' }
const diff = '@@ -1,2 +1,4 @@\n one\n-old\n+two\n+three\n+four\n'

async function setUp() {
  const asked: string[] = []
  const call = async (method: string) => {
    asked.push(method)
    if (method === 'files.blame') return blame
    if (method === 'changes.diff') return { path: 'a.ts', diff, added: 3, removed: 1 }
    return { scope: 'session', git: 'ready', added: 3, removed: 1, files: [file] }
  }
  const changes = new Changes(call as Call)
  await changes.open(file)
  const onstep = vi.fn()
  render(FileDiff, { changes, file, onputback: () => {}, onstep })
  return { asked, changes, onstep }
}

const marks = () =>
  [...document.querySelectorAll('[data-author]')].map((mark) => mark.textContent.trim())

test('the authors of the lines are read when they are asked for, and marked once for each run', async () => {
  const { asked, changes } = await setUp()
  expect(asked).not.toContain('files.blame')
  expect(marks()).toEqual([])
  await changes.blame(true)
  await vi.waitFor(() => expect(marks()).toEqual(['·', 'A3?', '', '✎']))
  expect(
    screen.getByRole('button', { name: /^Line 3: Add taxes⟨U\+202E⟩, turn 3, gpt$/ }),
  ).toBeTruthy()
  expect(screen.getByRole('button', { name: /^Line 4: ✎, Changed while no session/ })).toBeTruthy()
  await changes.blame(false)
  await vi.waitFor(() => expect(marks()).toEqual([]))
})

test('a key on a line shows its card, which leads to the step', async () => {
  const { changes, onstep } = await setUp()
  await changes.blame(true)
  await vi.waitFor(() => expect(marks().length).toBe(4))
  const row = screen.getByText('three').closest<HTMLElement>('[data-row]')!
  row.focus()
  await fireEvent.keyDown(row, { key: 'w' })
  const card = await screen.findByRole('dialog', { name: 'Who wrote this' })
  const text = card.textContent.replace(/\s+/g, ' ')
  for (const part of [
    'Lines 2 to 3',
    'Add taxes⟨U+202E⟩',
    'Add them',
    'openai / gpt',
    '$0.0125 or more',
    'you',
    'Not certain',
  ])
    expect(text).toContain(part)
  await fireEvent.click(screen.getByRole('button', { name: 'Open in session' }))
  expect(onstep).toHaveBeenCalledWith(step)
})

test('a pointer that rests on a mark shows the card, and one that passes does not', async () => {
  const { changes } = await setUp()
  await changes.blame(true)
  await vi.waitFor(() => expect(marks().length).toBe(4))
  vi.useFakeTimers()
  try {
    const mark = screen.getByRole('button', { name: /^Line 4/ })
    await fireEvent.pointerEnter(mark)
    await fireEvent.pointerLeave(mark)
    await vi.advanceTimersByTimeAsync(2000)
    expect(screen.queryByRole('dialog', { hidden: true })).toBeNull()
    await fireEvent.pointerEnter(mark)
    await vi.advanceTimersByTimeAsync(400)
    expect(screen.getByRole('dialog', { hidden: true }).textContent).toContain(
      'Changed while no session',
    )
    await fireEvent.pointerLeave(mark)
    await vi.advanceTimersByTimeAsync(400)
    expect(screen.queryByRole('dialog', { hidden: true })).toBeNull()
  } finally {
    vi.useRealTimers()
  }
})

test('the reason why authors are unknown is shown, and they are not asked for again', async () => {
  const { changes } = await setUp()
  const call = changes as unknown as { authors: { read: () => Promise<void> } }
  call.authors.read = () => Promise.reject(new Error('too large'))
  await changes.blame(true)
  expect(changes.problem).toBeTruthy()
  expect(changes.authors.wished).toBe(false)
})
