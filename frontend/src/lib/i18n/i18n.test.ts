import { describe, expect, test } from 'vitest'
import { en, type Message } from './en'
import { listed, sentences, setLanguage, t } from './i18n.svelte'
import { chinese } from '../chinese'

const placeholders = (message: Message) => {
  const text = typeof message === 'string' ? message : message.one + message.other
  return [...new Set(text.match(/\{\w+\}/g))].sort()
}

type Messages = Record<string, Message>
const own = import.meta.glob<Messages>(
  [
    '/src/lib/*/messages.ts',
    '/src/lib/conversation/undoing.ts',
    '/src/lib/hooks/calls.ts',
    '/src/lib/hooks/points.ts',
  ],
  { eager: true, import: 'messages' },
)
const sources = import.meta.glob<string>('/src/lib/*/*.ts', {
  eager: true,
  import: 'default',
  query: '?raw',
})
const english: [string, Messages][] = [
  ['i18n/en', en],
  ...Object.entries(own).map(([path, messages]): [string, Messages] => [
    path.slice('/src/lib/'.length, -'.ts'.length),
    messages,
  ]),
]

test('each file of messages is looked up by its name, and is there in Chinese', () => {
  const named = Object.values(sources).flatMap((source) =>
    [...source.matchAll(/translator(?:<Key>)?\('([^']+)'/g)].map(([, file]) => file!),
  )
  const files = english.map(([file]) => file).sort()
  expect(named.sort()).toEqual(files)
  expect(Object.keys(chinese.messages).sort()).toEqual(files)
})

describe.each(english)('messages: %s', (file, en) => {
  const zh = chinese.messages[file] ?? {}

  test('both languages have the same keys', () => {
    expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort())
  })

  test.each(Object.keys(en))('%s has the same placeholders in both languages', (key) => {
    expect(placeholders(zh[key]!)).toEqual(placeholders(en[key]!))
  })
})

test('the Chinese texts say 你 and token everywhere', () => {
  const odd = Object.entries(sources).flatMap(([path, source]) =>
    path.endsWith('.zh-CN.ts') && /您|词元/.test(source) ? [path] : [],
  )
  expect(odd).toEqual([])
})

test('numbers select the plural and are formatted for the language', () => {
  setLanguage('en')
  expect(t('tool.lines', { n: 1 })).toBe('1 line')
  expect(t('tool.lines', { n: 12000 })).toBe('12,000 lines')
  setLanguage('zh')
  expect(t('tool.lines', { n: 1 })).toBe('1 行')
  expect(document.documentElement.lang).toBe('zh-CN')
  setLanguage('en')
})

test('names are listed as the language requires', () => {
  expect([listed([]), listed(['a']), listed(['a', 'b', 'c'])]).toEqual(['', 'a', 'a, b, c'])
  setLanguage('zh')
  expect(listed(['甲', '乙', '丙'])).toBe('甲、乙、丙')
  setLanguage('en')
})

test('sentences are joined as the language requires', () => {
  expect(sentences('All is kept.', undefined, 'Try again.')).toBe('All is kept. Try again.')
  setLanguage('zh')
  expect(sentences('都已保存。', '', '请重试。')).toBe('都已保存。请重试。')
  setLanguage('en')
})

describe('Chinese is loaded when it is chosen', () => {
  /** The module as it is when a page begins, apart from the one that all tests share. */
  const begin = (): Promise<typeof import('./i18n.svelte')> =>
    import(/* @vite-ignore */ `./i18n.svelte.ts?${'begin'}`)

  test('and the language stays as it is until then, and if that fails', async () => {
    const page = await begin()
    let loaded: (texts: typeof chinese) => void = () => {}
    page.provideChinese(() => Promise.reject(new Error('offline')))
    await expect(page.setLanguage('zh-CN')).rejects.toThrow('offline')
    expect(page.t('app.cancel')).toBe('Cancel')
    page.provideChinese(() => new Promise((resolve) => (loaded = resolve)))
    const first = page.setLanguage('zh-CN')
    const second = page.setLanguage('en')
    loaded(chinese)
    await Promise.all([first, second])
    expect(page.language()).toBe('en') // it was chosen last
    await page.setLanguage('zh-CN')
    expect(page.t('app.cancel')).toBe('取消')
  })
})
