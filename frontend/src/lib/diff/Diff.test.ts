import { fireEvent, render, screen } from '@testing-library/svelte'
import { beforeEach, expect, test } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import type { Side } from '../model/diff'
import { setDiffView } from '../state/diffView.svelte'
import Diff from './Diff.svelte'

beforeEach(() => {
  setLanguage('en')
  setDiffView({})
  Element.prototype.scrollIntoView = () => {}
})

const diff = [
  '@@ -10,3 +10,3 @@ func a()',
  ' one',
  '-let total = 2',
  '+let total = 3',
  ' four',
  '@@ -40 +40 @@',
  '-x\u202e',
  '+y',
  '',
].join('\n')

const table = () => screen.getByRole('table', { name: 'Changes in a.ts' })

test('a row says what it is and shows what changed in it', () => {
  render(Diff, { diff, path: 'a.ts' })
  expect(screen.getByRole('rowheader', { name: 'removed line 11' })).toBeTruthy()
  const words = [...table().querySelectorAll('.word')].map((mark) => mark.textContent)
  expect(words).toEqual(['2', '3'])
  expect(table().textContent).toContain('27 unchanged lines')
  expect(table().textContent).toContain('x⟨U+202E⟩')
})

test('keys lead from change to change and from line to line', async () => {
  render(Diff, { diff, path: 'a.ts' })
  const at = () => document.activeElement?.textContent?.replace(/\s+/g, ' ')
  table().focus()
  const press = async (key: string) => {
    await fireEvent.keyDown(document.activeElement!, { key })
    await new Promise(requestAnimationFrame)
  }
  await press('n')
  expect(at()).toContain('let total = 2')
  await press('n')
  expect(at()).toContain('x⟨U+202E⟩')
  await press('n')
  expect(at()).toContain('x⟨U+202E⟩')
  await press('p')
  await press('j')
  expect(at()).toContain('let total = 3')
  await press('k')
  expect(at()).toContain('let total = 2')
})

test('context is read where it is asked for, until the file ends', async () => {
  const asked: [number, number][] = []
  render(Diff, {
    diff,
    path: 'a.ts',
    onexpand: async (from, to) => {
      asked.push([from, to])
      return from > 40
        ? ['end']
        : Array.from({ length: to - from + 1 }, (_, at) => `at_${from + at}`)
    },
  })
  await fireEvent.click(screen.getByRole('button', { name: 'Show 9 unchanged lines' }))
  await screen.findByText('at_9')
  await fireEvent.click(screen.getAllByRole('button', { name: 'Show the next 20 lines' })[0]!)
  await screen.findByText('at_32')
  expect(screen.queryByText('at_33')).toBeNull()
  await fireEvent.click(screen.getByRole('button', { name: 'Show the next 20 lines' }))
  await screen.findByText('end')
  expect(screen.queryByRole('button', { name: 'Show the next 20 lines' })).toBeNull()
  expect(asked).toEqual([
    [1, 9],
    [13, 32],
    [41, 60],
  ])
})

test('a line is commented on by pointer or key, at its place', async () => {
  const places: [number, Side][] = []
  render(Diff, { diff, path: 'a.ts', oncomment: (line, side) => places.push([line, side]) })
  await fireEvent.click(screen.getByRole('button', { name: 'Comment on added line 11' }))
  const row = screen.getByRole('rowheader', { name: 'removed line 40' }).parentElement!
  row.focus()
  await fireEvent.keyDown(row, { key: 'c' })
  expect(places).toEqual([
    [11, 'new'],
    [40, 'old'],
  ])
})

test('changes in spaces are hidden if the user chooses that, but never where a person decides', () => {
  setDiffView({ diff_hides_spaces: true })
  const spaces = '@@ -1 +1 @@\n-a\n+  a\n@@ -9 +9 @@\n-b\n+c\n'
  const { unmount } = render(Diff, { diff: spaces, path: 'a.ts' })
  expect(screen.queryByRole('rowheader', { name: 'removed line 1' })).toBeNull()
  expect(document.body.textContent).toContain('1 more change, only in spaces, is hidden.')
  unmount()
  render(Diff, { diff: spaces, path: 'a.ts', whole: true })
  expect(screen.getByRole('rowheader', { name: 'removed line 1' })).toBeTruthy()
})

test('of a very long line the rest is shown on request', async () => {
  render(Diff, { diff: `@@ -0,0 +1 @@\n+${'x'.repeat(5000)}end\n`, path: 'a.ts' })
  expect(table().textContent).not.toContain('xend')
  await fireEvent.click(screen.getByRole('button', { name: 'Show all 5,003 characters' }))
  expect(table().textContent).toContain('xend')
})
