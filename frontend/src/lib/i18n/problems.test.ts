import { afterEach, expect, test } from 'vitest'
import type { Failure, HistoryRepaired, Warning } from '../types.gen'
import { setLanguage } from './i18n.svelte'
import { documentWords, problemWords, repairWords, warningWords } from './problems'

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

test('a quotation does not reorder the rest of its sentence', () => {
  expect(problemWords({ ...missing, message: 'a\u202eb has none.' }).message).toBe(
    'a⟨U+202E⟩b has none.',
  )
  expect(warningWords({ ...vetoed, message: 'No. \u2067b' })).toBe('No. ⟨U+2067⟩b')
  setLanguage('zh-CN')
  expect(warningWords({ ...vetoed, args: ['\u2067b'] })).toContain('⟨U+2067⟩b')
})

test('English sentences are those of Go', () => {
  expect(problemWords(missing)).toBe(missing)
  expect(problemWords(refused)).toBe(refused)
  expect(warningWords(vetoed)).toBe(vetoed.message)
  expect(repairWords(foreign)).toBe(foreign.message)
})

test('English says where the user can change a key in this window', () => {
  const next = "Check the provider's key, then try again."
  const words = problemWords({ ...refused, id: 'provider_auth', next })
  expect(words.next).toBe('Check the key in Settings → Keys, then try again.')
  expect(problemWords({ ...refused, id: 'toString', next }).next).toBe(next)
})

test('Chinese sentences have the same arguments', () => {
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
    next: '服务商要求等待 7 秒。请在此之后重试，或选择其他模型。',
  })
  expect(warningWords(vetoed)).toBe('有钩子阻止了对话压缩。')
  expect(repairWords(foreign)).toMatch(/^由 a 接替 b。/)
})

test.each([
  ['1h1m40s', '1 小时 1 分 40 秒'],
  ['2h', '2 小时'],
  ['1m30s', '1 分 30 秒'],
  ['a while', 'a while'],
])('a pause of %s is %s in Chinese', (pause, words) => {
  setLanguage('zh-CN')
  const args = ['HTTP 5s', pause]
  const server = { ...refused, id: 'provider_server_wait', args } as const
  expect(problemWords(server)).toMatchObject({
    message: '服务商出错：HTTP 5s。',
    next: `服务商要求等待 ${words}。请在此之后重试，或选择其他模型。`,
  })
})

test('each change of a picture is translated, except in an older log', () => {
  setLanguage('zh-CN')
  const repaired: HistoryRepaired = {
    repair: 'pictures',
    args: ['m', 'a.png is made smaller; a picture is sent as image/png, not as image/gif'],
    message: 'Pictures are sent to m in another form.',
    pictures: [
      { id: 'smaller', name: 'a.png' },
      { id: 'typed', args: ['image/png', 'image/gif'] },
    ],
  }
  expect(repairWords(repaired)).toBe(
    '图片以其他形式发送给 m：a.png 已缩小；一张图片按 image/png 发送，而不是 image/gif。',
  )
  expect(repairWords({ ...repaired, pictures: undefined })).toContain('a.png is made smaller;')
  setLanguage('en')
  expect(repairWords(repaired)).toBe(repaired.message)
})

test('the reason why a document was left out is translated', () => {
  const left = {
    path: 'AGENTS.md',
    size: 0,
    told: 0,
    problem: 'it cannot be read: input/output error',
    problem_id: 'unread',
    problem_args: ['input/output error'],
  } as const
  const document = { ...left, problem_args: [...left.problem_args] }
  expect(documentWords(document)).toBe(left.problem)
  setLanguage('zh-CN')
  expect(documentWords(document)).toBe('无法读取：input/output error')
  expect(documentWords({ ...document, problem_id: undefined })).toBe(left.problem)
})

test('a problem names what was kept only if Go does', () => {
  setLanguage('zh-CN')
  expect(problemWords({ ...refused, kept: undefined }).kept).toBeUndefined()
})

test('a problem without a translation stays as it is, from an older log or a newer Atelier', () => {
  setLanguage('zh-CN')
  for (const id of [undefined, 'toString', 'of_a_newer_version']) {
    const other = { id, code: 'busy', message: 'The session is busy.', kept: 'All.' }
    expect(problemWords(other)).toBe(other)
  }
  expect(warningWords({ message: 'The answer stopped.' })).toBe('The answer stopped.')
  expect(repairWords({ repair: 'native', message: 'Sent again.' })).toBe('Sent again.')
})
