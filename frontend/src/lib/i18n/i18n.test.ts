import { describe, expect, test } from 'vitest'
import { en, type Message } from './en'
import { type Language, listed, sentences, setLanguage, t } from './i18n.svelte'
import { zhCN } from './zh-CN'

const placeholders = (message: Message) => {
  const text = typeof message === 'string' ? message : message.one + message.other
  return [...new Set(text.match(/\{\w+\}/g))].sort()
}

type Catalogue = Record<Language, Record<string, Message>>
const parts = import.meta.glob<Catalogue>('../*/messages.ts', { eager: true, import: 'messages' })
const catalogues: [string, Catalogue][] = [
  ['shared', { en, 'zh-CN': zhCN }],
  ...Object.entries(parts),
]

describe.each(catalogues)('messages: %s', (_, { en, 'zh-CN': zh }) => {
  test('both languages have the same keys', () => {
    expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort())
  })

  test.each(Object.keys(en))('%s has the same placeholders in both languages', (key) => {
    expect(placeholders(zh[key]!)).toEqual(placeholders(en[key]!))
  })
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
