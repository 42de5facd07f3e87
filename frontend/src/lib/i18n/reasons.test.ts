import { afterEach, expect, test } from 'vitest'
import { setLanguage } from './i18n.svelte'
import { reasonWords } from './reasons'

afterEach(() => setLanguage('en'))

const leads = {
  reason: 'a leads to b, which lies outside the project.',
  reason_code: 'leads_outside',
  reason_args: ['{1}', 'b\u202e'],
} as const

test('a reason is translated, and its arguments are inserted unchanged', () => {
  expect(reasonWords({ ...leads, reason_args: [...leads.reason_args] })).toBe(leads.reason)
  setLanguage('zh-CN')
  expect(reasonWords({ ...leads, reason_args: [...leads.reason_args] })).toBe(
    '{1} 指向 b⟨U+202E⟩，后者位于项目之外。',
  )
})

test('a reason without a code stays as it is', () => {
  setLanguage('zh-CN')
  expect(reasonWords({ reason: 'From an older log.' })).toBe('From an older log.')
})
