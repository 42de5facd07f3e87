import { beforeEach, expect, test } from 'vitest'
import { commandIn } from '../model/activity'
import { emptyView } from '../model/entries'
import { apply } from '../model/reducer'
import { Log, noUsage } from '../model/testing'
import {
  beginEdit,
  draftOwner,
  dropDrafts,
  editedTurn,
  putBack,
  queuedDraft,
  readDraft,
  takeSent,
  writeDraft,
} from './drafts.svelte'
import { giveBack } from './refused'

beforeEach(() => writeDraft('s', ''))

test('a draft is stored until it is empty', () => {
  writeDraft('s', 'half a')
  expect(localStorage.getItem('atelier.draft:s')).toBe('half a')
  writeDraft('s', '')
  expect(localStorage.getItem('atelier.draft:s')).toBeNull()
})

test('a draft of an earlier page is found', () => {
  localStorage.setItem('atelier.draft:left', 'from before')
  expect(readDraft('left')).toBe('from before')
})

test.each([
  ['', 'later'],
  ['now \n', 'now\n\nlater'],
])('text is put back after %j', (written, want) => {
  writeDraft('s', written)
  putBack('s', 'later')
  expect(readDraft('s')).toBe(want)
})

test.each([
  ['', '!later', ' !later'],
  ['!ls ', 'later', 'later\n\n!ls'],
  ['!ls', '!later', ' !later\n\n!ls'],
  ['now', '!later', 'now\n\n!later'],
])('with %j in the field, %j is put back as a message', (written, text, want) => {
  writeDraft('s', written)
  putBack('s', text)
  expect(readDraft('s')).toBe(want)
  expect(commandIn(readDraft('s'))).toBeUndefined()
})

test.each([
  ['sent', ''],
  ['sent and more', ' and more'],
  ['something else', 'something else'],
])('only the text that was sent is removed from %j', (written, want) => {
  writeDraft('s', written)
  takeSent('s', 'sent')
  expect(readDraft('s')).toBe(want)
})

test('the drafts of a session go with it, also those of its queued messages and of an earlier page', () => {
  const owners = ['gone', queuedDraft('gone', 'q1'), 'stays', queuedDraft('stays', 'q2')]
  for (const owner of owners) writeDraft(owner, owner)
  localStorage.setItem('atelier.draft:gone/earlier', 'from before')
  dropDrafts('gone')
  expect(owners.filter((owner) => readDraft(owner) !== '')).toEqual(['stays', 'stays/q2'])
  expect(readDraft('gone/earlier')).toBe('')
  dropDrafts('stays')
})

// OAS-661: what a hook refused to send is in the message field again, once.
test('a refused message goes back to its field', () => {
  const log = new Log()
  const refuse = (text: string) => [
    log.add('user_input', { text }),
    log.add('processing_end', { reason: 'refused', rounds: 0, usage: noUsage }),
  ]
  const events = [
    ...refuse('My key is 42'),
    log.add('steering_injected', { text: 'Faster', refused: true }),
  ]
  const view = apply(emptyView, events)
  writeDraft('refused', '')
  giveBack('refused', view, events)
  giveBack('refused', view, events)
  expect(readDraft('refused')).toBe('My key is 42\n\nFaster')
  giveBack('other', view, [log.add('steering_injected', { text: 'Slower' })])
  expect(readDraft('other')).toBe('')
})

test('a prompt that is edited has a draft of its own, is not a command, and goes with its session', () => {
  writeDraft('s', 'mine')
  beginEdit('s', 3, '!important')
  expect([editedTurn('s'), readDraft('s')]).toEqual([3, 'mine'])
  expect(commandIn(readDraft(draftOwner('s')))).toBeUndefined()
  dropDrafts('s')
  expect([editedTurn('s'), draftOwner('s')]).toEqual([undefined, 's'])
  expect(Object.keys(localStorage).filter((key) => /:s(\/|$)/.test(key))).toEqual([])
})

test('a page finds the edit that an earlier page began', () => {
  localStorage.setItem('atelier.edit:earlier', '2')
  localStorage.setItem('atelier.draft:earlier/edit', 'half a')
  expect([editedTurn('earlier'), readDraft(draftOwner('earlier'))]).toEqual([2, 'half a'])
})
