import { fireEvent, screen } from '@testing-library/svelte'
import { tick } from 'svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import type { Catalog } from '../app/catalog.svelte'
import { setLanguage } from '../i18n/i18n.svelte'
import { renderInApp } from '../ui/testing'
import type { Activity } from './activity'
import Composer from './Composer.svelte'
import { writeDraft } from './drafts.svelte'

beforeEach(() => {
  setLanguage('en')
  writeDraft('s', '')
})

function show(state: Activity, isTaken = true, queued = 0) {
  const onsend = vi.fn(async () => isTaken)
  const onrun = vi.fn(async () => isTaken)
  const onqueue = vi.fn(async () => isTaken)
  const props = {
    catalog: {} as Catalog,
    settings: undefined,
    owner: 's',
    state,
    stopping: false,
    queued,
    onsend,
    onrun,
    onqueue,
    onstop: () => {},
    onconfigure: () => {},
    onkeys: () => {},
  }
  renderInApp(Composer, props)
  return { onsend, onrun, onqueue, field: screen.getByRole<HTMLTextAreaElement>('textbox') }
}

const type = (field: HTMLElement, value: string) => fireEvent.input(field, { target: { value } })

// LOOP-132, LOOP-133
test.each([
  ['rest', {}, 'send'],
  ['rest', { ctrlKey: true }, 'send'],
  ['running', {}, 'steer'],
  ['running', { ctrlKey: true }, 'follow_up'],
  ['running', { metaKey: true }, 'follow_up'],
  ['command', {}, 'follow_up'],
  ['running', { shiftKey: true }, undefined],
  ['running', { isComposing: true }, undefined],
] as const)('at %s, Enter with %o is to %s', async (state, keys, want) => {
  const { onsend, onqueue, field } = show(state)
  await type(field, ' Now ')
  await fireEvent.keyDown(field, { key: 'Enter', ...keys })
  expect(onsend.mock.calls).toEqual(want === 'send' ? [['Now']] : [])
  expect(onqueue.mock.calls).toEqual(want && want !== 'send' ? [[want, 'Now']] : [])
  await tick()
  expect(field.value).toBe(want ? '' : ' Now ')
})

test('text that is not taken stays in the field', async () => {
  const { field } = show('running', false)
  await type(field, 'Now')
  await fireEvent.keyDown(field, { key: 'Enter' })
  await tick()
  expect(field.value).toBe('Now')
})

test('the stop button says what it keeps', () => {
  show('running', true, 2)
  const stop = screen.getByRole('button', { name: 'Stop' })
  expect(document.getElementById(stop.getAttribute('aria-describedby')!)?.textContent).toMatch(
    /files already changed stay changed\. 2 queued messages wait\.$/,
  )
})

// OAS-102
test.each([
  ['rest', '!git status ', ['git status'], ''],
  ['rest', '!', undefined, '!'],
  ['running', '!git status', undefined, '!git status'],
  ['command', '!git status', undefined, '!git status'],
] as const)('at %s, “%s” runs %s and leaves “%s”', async (state, typed, ran, left) => {
  const { onsend, onrun, onqueue, field } = show(state)
  await type(field, typed)
  expect(screen.getByRole('status').textContent).toContain('Run a command')
  await fireEvent.keyDown(field, { key: 'Enter' })
  await tick()
  expect(onrun.mock.calls).toEqual(ran ? [ran] : [])
  expect([...onsend.mock.calls, ...onqueue.mock.calls]).toEqual([])
  expect(field.value).toBe(left)
})

test('a command that is not taken stays in the field', async () => {
  const { field } = show('rest', false)
  await type(field, '!ls')
  await fireEvent.keyDown(field, { key: 'Enter' })
  await tick()
  expect(field.value).toBe('!ls')
})

test('a command waits for rest, and the composer says for what', async () => {
  const { field } = show('running')
  await type(field, '!ls')
  expect(screen.getByRole('status').textContent).toContain('once the turn is over')
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Run' }).disabled).toBe(true)
  expect(screen.getByRole('button', { name: 'Stop' })).toBeTruthy()
})

test('an exclamation mark behind a space is the beginning of a message', async () => {
  const { onsend, field } = show('rest')
  await type(field, ' !important')
  await fireEvent.keyDown(field, { key: 'Enter' })
  expect(onsend.mock.calls).toEqual([['!important']])
})
