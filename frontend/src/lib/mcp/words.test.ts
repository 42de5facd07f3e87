import { afterEach, expect, test } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import { logWords } from './words'

afterEach(() => setLanguage('en'))

test('the events of a connection are told in the language of the page', () => {
  const entry = {
    at: 1,
    level: 'info',
    id: 'cut' as const,
    args: ['tools', '500'],
    text: 'the list of tools is cut after 500 of them',
  }
  expect(logWords(entry)).toBe(entry.text)
  setLanguage('zh-CN')
  expect(logWords(entry)).toBe('tools 的列表在 500 项之后被截断')
})

test('a server’s log lines are shown as it wrote them', () => {
  setLanguage('zh-CN')
  expect(logWords({ at: 1, level: 'info', text: 'ready' })).toBe('ready')
})
