import { beforeEach, expect, test } from 'vitest'
import { putBack, readDraft, takeSent, writeDraft } from './drafts.svelte'

beforeEach(() => writeDraft('s', ''))

test('a draft is kept beyond the page', () => {
  writeDraft('s', 'half a')
  expect(localStorage.getItem('atelier.draft:s')).toBe('half a')
  writeDraft('s', '')
  expect(localStorage.getItem('atelier.draft:s')).toBeNull()
})

test('one that an earlier page left is found', () => {
  localStorage.setItem('atelier.draft:left', 'from before')
  expect(readDraft('left')).toBe('from before')
})

test.each([
  ['', 'later'],
  ['now \n', 'now\n\nlater'],
])('text that comes back stands behind %j', (written, want) => {
  writeDraft('s', written)
  putBack('s', 'later')
  expect(readDraft('s')).toBe(want)
})

test.each([
  ['sent', ''],
  ['sent and more', ' and more'],
  ['something else', 'something else'],
])('of %j stays what was not sent', (written, want) => {
  writeDraft('s', written)
  takeSent('s', 'sent')
  expect(readDraft('s')).toBe(want)
})
