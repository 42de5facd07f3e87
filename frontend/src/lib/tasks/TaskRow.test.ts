import { fireEvent, render, screen, waitFor } from '@testing-library/svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import type { Call } from '../api'
import { setLanguage } from '../i18n/i18n.svelte'
import { Tail } from '../state/tail.svelte'
import TaskRow from './TaskRow.svelte'
import type { Task } from '../model/tasks'

/** What the stubbed IntersectionObserver reports. */
let isInView = true

beforeEach(() => {
  setLanguage('en')
  isInView = true
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      constructor(private tell: (entries: { isIntersecting: boolean }[]) => void) {}
      observe = () => this.tell([{ isIntersecting: isInView }])
      disconnect = () => {}
    },
  )
})

const task: Task = {
  key: 'a/1/1',
  session: 'a',
  id: '1',
  command: 'npm run dev \u202e',
  folder: '/shop',
  started_at: Date.now() - 65_000,
  state: 'running',
}

function show(change: Partial<Task> = {}, printed = '') {
  const call = vi.fn(async () => ({ text: printed, begin: 0, end: printed.length }))
  const tail = new Tail('a', '1', call as unknown as Call)
  const onstop = vi.fn(async () => {})
  const onopen = vi.fn(async () => {})
  const props = {
    task: { ...task, ...change },
    tail,
    open: true,
    stopping: false,
    folder: '',
    agent: '',
    onopen,
    onstop,
    ontoggle: () => {},
  }
  return { call, onopen, onstop, props, ...render(TaskRow, props) }
}

test.each<[Partial<Task>, string]>([
  [{}, 'running · 1 m 05 s'],
  [{ state: 'exited', exit_code: 0 }, 'exit 0 · 5 s'],
  [{ state: 'exited', exit_code: 3 }, 'exit 3 · 5 s'],
  [{ state: 'stopped' }, 'stopped · 5 s'],
  [{ state: 'timed_out' }, 'ended at its time limit · 5 s'],
  [{ state: 'session_ended' }, 'ended with the session · 5 s'],
])('%o is shown as “%s”', (change, want) => {
  const times = change.state ? { started_at: 1000, ended_at: 6000 } : {}
  const { container } = show({ ...change, ...times })
  const facts = container.querySelector('.facts')!.textContent
  expect(facts.replace(/\s+/g, ' ').trim()).toBe(want)
  expect(screen.queryAllByRole('button', { name: /^Stop/ })).toHaveLength(change.state ? 0 : 1)
})

test('hidden characters of a command are made visible', () => {
  show()
  expect(screen.getByText('⟨U+202E⟩')).toBeTruthy()
  screen.getByRole('button', { name: 'Stop npm run dev ⟨U+202E⟩' })
})

// OAS-317
test('a stop needs no confirmation, and its outcome is announced', async () => {
  const { onstop, props, rerender } = show()
  const status = screen.getByRole('status')
  expect(status.textContent).toBe('')
  await fireEvent.click(screen.getByRole('button', { name: /^Stop/ }))
  expect(onstop).toHaveBeenCalledOnce()
  await rerender({ ...props, stopping: true })
  expect(status.textContent).toContain('Stopping…')
  await rerender({ ...props, task: { ...task, state: 'stopped', ended_at: Date.now() } })
  expect(status.textContent).toContain('npm run dev ⟨U+202E⟩: stopped')
})

test('the focus moves from the button to the row, even if the event comes after the reply', async () => {
  Element.prototype.scrollIntoView = vi.fn() // which jsdom does not have
  const { props, rerender } = show()
  const stop = screen.getByRole('button', { name: /^Stop/ })
  stop.focus()
  await fireEvent.click(stop)
  await rerender({ ...props, stopping: true }) // the reply came, the button is still there
  await rerender({ ...props, task: { ...task, state: 'stopped', ended_at: Date.now() } })
  const toggle = screen.getByRole('button', { name: /^Show or hide the output/ })
  await waitFor(() => expect(document.activeElement).toBe(toggle))
})

test('the output is always shown as plain text', async () => {
  show({}, '\x1b[31mred\x1b[0m <b>bold</b> \x1b]52;c;ZXZpbA==\x07')
  const text = await screen.findByText(/red/)
  expect(text.textContent).toBe('red <b>bold</b> ')
})

test('the output is not read while it is out of view', () => {
  isInView = false
  const { call } = show()
  expect(call).not.toHaveBeenCalled()
})

test('the end is followed until the user scrolls up, and again after “Jump to latest”', async () => {
  const { call } = show({}, 'line\n'.repeat(100))
  await screen.findByText(/line/)
  const log = screen.getByRole('log')
  Object.defineProperties(log, {
    scrollHeight: { value: 1000 },
    clientHeight: { value: 200 },
  })
  const reads = call.mock.calls.length
  await fireEvent.wheel(log, { deltaY: -50 })
  const jump = screen.getByRole('button', { name: 'Jump to latest' })
  expect(call).toHaveBeenCalledTimes(reads)
  await fireEvent.click(jump)
  expect(log.scrollTop).toBe(1000)
  expect(call).toHaveBeenCalledTimes(reads + 1)
  expect(screen.queryByRole('button', { name: 'Jump to latest' })).toBeNull()
})

test('a port on which the task listens is opened with one press, as long as it runs', async () => {
  const { onopen, props, rerender } = show({ ports: [5173, 8080] })
  await fireEvent.click(screen.getByRole('button', { name: /^Open :8080 of npm run dev/ }))
  expect(onopen).toHaveBeenCalledExactlyOnceWith(8080)
  await rerender({ ...props, task: { ...task, state: 'exited' } })
  expect(screen.queryByRole('button', { name: /^Open/ })).toBeNull()
})
