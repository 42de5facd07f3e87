import { afterEach, expect, test } from 'vitest'
import { setLanguage } from './i18n.svelte'
import { problemWords, warningWords } from './problems'

afterEach(() => setLanguage('en'))

const missing = {
  id: 'address_missing',
  args: ['{1}', 'AZURE_URL'],
  code: 'no_model',
  message: '{1} has no address yet.',
  kept: 'Your message is still in the box.',
  next: 'Enter it in Settings → Keys, or set AZURE_URL.',
  details: 'an address',
}

test('English is what Go says', () => {
  expect(problemWords(missing, 'application')).toBe(missing)
  expect(warningWords('length', 'The answer stopped.')).toBe('The answer stopped.')
})

test('English says where in this window a key is mended', () => {
  const refused = { code: 'auth', message: 'It asks for a key.', next: "Check the provider's key." }
  expect(problemWords(refused, 'provider')).toEqual({
    ...refused,
    next: 'Check the key in Settings → Keys, then try again.',
  })
  expect(problemWords(refused, 'application')).toBe(refused)
  expect(problemWords({ ...refused, code: 'quota' }, 'provider').next).toBe(refused.next)
})

test('Chinese says the same, with what fills it as it is', () => {
  setLanguage('zh-CN')
  expect(problemWords(missing, 'application')).toEqual({
    ...missing,
    message: '{1} 还没有地址。',
    kept: '你的消息仍在输入框中。',
    next: '请在“设置 → 密钥”中输入，或设置 AZURE_URL。',
  })
  expect(warningWords('length', 'The answer stopped.')).toMatch(/长度/)
})

test('what has no words stays as it is', () => {
  setLanguage('zh-CN')
  for (const id of [undefined, 'toString', 'of_a_newer_version']) {
    const other = { id, code: 'busy', message: 'The session is busy.', kept: 'All.' }
    expect(problemWords(other, 'application')).toBe(other)
  }
  expect(warningWords('constructor', 'x')).toBe('x')
})
