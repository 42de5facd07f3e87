import { expect, test } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import type { Workbench } from '../state/workbench.svelte'
import { tabs } from './registry'
import { matching } from './search'

const bench = {
  catalog: { keys: { keys: [{ provider: 'openai', name: 'OpenAI' }] } },
  project: { version: '1.0', home: '/home' },
} as unknown as Workbench

const all = () =>
  tabs.flatMap(({ value, label, settings }) =>
    settings(bench).map((setting) => ({ ...setting, tab: value, place: label() })),
  )

test.each([
  ['en', 'dark', 'theme'],
  ['en', 'DARK', 'theme'],
  ['en', '深色', 'theme'],
  ['en', 'price', 'budget'],
  ['en', 'openai key', 'key_openai'],
  ['en', 'size code', 'font_code'],
  ['en', 'appearance fold', 'density'],
  ['en', 'vscode', 'editor'],
  ['zh-CN', 'dark', 'theme'],
  ['zh-CN', '费用', 'budget'],
  ['zh-CN', '字号', 'font_interface'],
  ['zh-CN', '外观 语言', 'language'],
])('in %s, %j finds %s', (language, wanted, id) => {
  setLanguage(language)
  expect(matching(all(), wanted).map((found) => found.id)).toContain(id)
  setLanguage('en')
})

test('a setting whose name has the words comes first', () => {
  expect(matching(all(), 'font').map(({ id }) => id)[0]).toBe('font_interface')
  expect(matching(all(), 'cache').map(({ id }) => id)[0]).toBe('long_cache')
  // Its words come before the hint of another setting, which tells of the sandbox.
  expect(matching(all(), 'sandbox').map(({ id }) => id)[0]).toBe('confine')
})

test('words that no setting has find nothing', () => {
  expect(matching(all(), 'dark zebra')).toEqual([])
})

test('each setting has an id of its own', () => {
  const ids = all().map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
})
