import { afterEach, expect, test } from 'vitest'
import type { Failure, HistoryRepaired, Warning } from '../types.gen'
import { setLanguage } from './i18n.svelte'
import { problemWords, repairWords, warningWords } from './problems'

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
const refused: Failure = {
  id: 'provider_overloaded_wait',
  args: ['HTTP 529', '7s'],
  code: 'overloaded',
  message: 'The provider is overloaded.',
  kept: 'Everything up to here is saved.',
  next: 'The provider asks to wait 7s.',
}
const vetoed: Warning = {
  id: 'compaction_vetoed',
  args: [''],
  code: 'hooks',
  message: 'A hook prevented the compaction of the conversation.',
}
const foreign: HistoryRepaired = {
  repair: 'foreign',
  args: ['a', 'b'],
  message: 'a goes on where b was.',
}

test('English is what Go says', () => {
  expect(problemWords(missing)).toBe(missing)
  expect(problemWords(refused)).toBe(refused)
  expect(warningWords(vetoed)).toBe(vetoed.message)
  expect(repairWords(foreign)).toBe(foreign.message)
})

test('English says where in this window a key is mended', () => {
  const next = "Check the provider's key, then try again."
  const words = problemWords({ ...refused, id: 'provider_auth', next })
  expect(words.next).toBe('Check the key in Settings → Keys, then try again.')
  expect(problemWords({ ...refused, id: 'toString', next }).next).toBe(next)
})

test('Chinese says the same, with what fills it as it is', () => {
  setLanguage('zh-CN')
  expect(problemWords(missing)).toEqual({
    ...missing,
    message: '{1} 还没有地址。',
    kept: '你的消息仍在输入框中。',
    next: '请在“设置 → 密钥”中输入，或设置 AZURE_URL。',
  })
  expect(problemWords(refused)).toEqual({
    ...refused,
    message: '服务商过载。',
    kept: '到这里为止的内容都已保存。',
    next: '服务商要求等待 7s。请在此之后重试，或选择其他模型。',
  })
  expect(warningWords(vetoed)).toBe('一个钩子阻止了压缩对话。')
  expect(repairWords(foreign)).toMatch(/^由 a 接替 b。/)
})

test('what was kept is said only where Go says it', () => {
  setLanguage('zh-CN')
  expect(problemWords({ ...refused, kept: undefined }).kept).toBeUndefined()
})

test('what has no words stays as it is: an older log, a newer Atelier', () => {
  setLanguage('zh-CN')
  for (const id of [undefined, 'toString', 'of_a_newer_version']) {
    const other = { id, code: 'busy', message: 'The session is busy.', kept: 'All.' }
    expect(problemWords(other)).toBe(other)
  }
  expect(warningWords({ message: 'The answer stopped.' })).toBe('The answer stopped.')
  expect(repairWords({ repair: 'native', message: 'Sent again.' })).toBe('Sent again.')
})
