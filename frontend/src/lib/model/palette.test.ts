import { expect, test } from 'vitest'
import { mostShown, type PaletteEntry, ranked, readUses, used } from './palette'

const entry = (kind: PaletteEntry['kind'], label: string, more?: Partial<PaletteEntry>) => ({
  id: `${kind}:${label}`,
  kind,
  label,
  run: () => {},
  ...more,
})
const all = [
  entry('session', 'Fix the login form'),
  entry('session', 'Write docs'),
  entry('command', 'New session', { keys: 'Ctrl+N' }),
  entry('panel', 'Files'),
  entry('file', 'src/login/form.ts'),
  entry('file', 'docs/form-login.md'),
  entry('model', 'Claude Sonnet 5.5', { hint: 'Anthropic' }),
  entry('setting', 'Theme', { words: 'dark light 主题' }),
  entry('prompt', '/release-notes'),
]
const labels = (typed: string, uses = {}) => ranked(all, typed, uses, 0).map(({ label }) => label)

test.each([
  ['login', ['docs/form-login.md', 'Fix the login form', 'src/login/form.ts']],
  ['form.ts', ['src/login/form.ts']],
  ['anthropic', ['Claude Sonnet 5.5']],
  ['主题', ['Theme']],
  ['snnt', ['Claude Sonnet 5.5']],
  ['> new', ['New session']],
  ['@form login', ['docs/form-login.md', 'src/login/form.ts']],
  ['/', ['/release-notes']],
  ['#docs', ['Write docs']],
  ['qqq', []],
])('%j finds %j', (typed, expected) => {
  expect(new Set(labels(typed))).toEqual(new Set(expected))
})

test('the shortest name that begins so comes first, and what is used often before its likes', () => {
  expect(labels('fi')[0]).toBe('Files')
  const uses = { 'session:Fix the login form': { n: 9, at: 0 } }
  expect(labels('fi', uses)[0]).toBe('Fix the login form')
  expect(ranked(all, 'fi', uses, 365 * 24 * 3600 * 1000)[0]?.label).toBe('Files') // long ago
})

test('without words, the used comes first and no file that was never used', () => {
  const uses = used(used({}, 'file:src/login/form.ts', 1), 'setting:Theme', 2)
  expect(labels('', uses).slice(0, 2).toSorted()).toEqual(['Theme', 'src/login/form.ts'].toSorted())
  expect(labels('', uses)).not.toContain('docs/form-login.md')
})

test('a hundred thousand files are ranked in one key stroke', () => {
  const files = Array.from({ length: 100_000 }, (_, at) =>
    entry('file', `src/part${at % 100}/file${at}.ts`),
  )
  expect(ranked(files, 'part7 file', {}, 0)).toHaveLength(mostShown)
  const began = performance.now()
  expect(ranked(files, 'part7 file9', {}, 0)).toHaveLength(mostShown)
  expect(performance.now() - began).toBeLessThan(1500) // 60 ms on a machine at rest
})

test('stored uses that are damaged are none', () => {
  expect(readUses('{"a":{"n":1,"at":2},"b":3,"c":null,"d":{"n":"x"}}')).toEqual({
    a: { n: 1, at: 2 },
  })
  expect(readUses('[')).toEqual({})
  expect(readUses('')).toEqual({})
})
