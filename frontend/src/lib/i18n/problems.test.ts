import { afterEach, expect, test } from 'vitest'
import { setLanguage } from './i18n.svelte'
import { problemWords, warningWords } from './problems'

afterEach(() => setLanguage('en'))

const busy = { code: 'busy', message: 'It works.', kept: 'All is kept.', details: 'lease' }

test('English is what Go says', () => {
  expect(problemWords(busy, 'application')).toBe(busy)
  expect(warningWords('length', 'The answer stopped.')).toBe('The answer stopped.')
})

test('Chinese is chosen by the code, and what Go says is in the details', () => {
  setLanguage('zh-CN')
  const words = problemWords(busy, 'application')
  expect(words.message).toMatch(/会话/)
  expect(words.details).toBe('It works. All is kept.\nlease')
  expect(warningWords('length', 'The answer stopped.')).toMatch(/长度/)
})

test('the same code of a provider has other words', () => {
  setLanguage('zh-CN')
  const missing = { code: 'not_found', message: 'no such model' }
  expect(problemWords(missing, 'provider').message).toMatch(/模型/)
  expect(problemWords(missing, 'application').message).not.toMatch(/模型/)
  expect(problemWords({ code: 'store_failed', message: 'x' }, 'provider').message).toMatch(/数据库/)
})

test('what has no words stays as it is', () => {
  setLanguage('zh-CN')
  const other = { code: 'toString', message: '页面自己的话' }
  expect(problemWords(other, 'application')).toBe(other)
  expect(warningWords('constructor', 'x')).toBe('x')
})
