import { expect, test } from 'vitest'
import { piecesOf } from './files'
import { renderMarkdown } from './render'

const placesIn = (text: string) =>
  piecesOf(text).flatMap(({ place }) => (place ? [`${place.path}@${place.line}`] : []))

test.each([
  ['see src/login.ts:12, then main.go:7.', ['src/login.ts@12', 'main.go@7']],
  ['go.mod:3 notes.txt:4 main.tf:5', ['go.mod@3', 'notes.txt@4', 'main.tf@5']],
  ['src/a.ts:12:5: error', ['src/a.ts@12']],
  ['./b/c.py:3', ['./b/c.py@3']],
  ['.github/ci.yml:4', ['.github/ci.yml@4']],
  ['a.test.ts:1\nlib/x.svelte:22', ['a.test.ts@1', 'lib/x.svelte@22']],
  ['example.com:443 localhost:8080 127.0.0.1:80', []],
  ['https://example.com/a.ts:3', []],
  ['/etc/passwd.d/a.conf:1 ../up.ts:2 a/../../b.ts:3 ~/x/y.ts:1', []],
  ['12:30 v1.2:3', []],
  ['a.ts:123456789', []],
])('in %j, the places are %j', (text, want) => {
  expect(placesIn(text)).toEqual(want)
  expect(
    piecesOf(text)
      .map((piece) => piece.text)
      .join(''),
  ).toBe(text)
})

test('a hostile text takes no time', () => {
  for (const text of [
    'a/'.repeat(20_000),
    'a.'.repeat(20_000),
    './'.repeat(20_000),
    'a-+@'.repeat(20_000) + ':1',
  ]) {
    expect(placesIn(text)).toEqual([])
  }
})

test('places in prose and in code become buttons, those in links do not', () => {
  const [block] = renderMarkdown('In `src/a.ts:3` and b/c.go:4, [d/e.ts:5](https://x.org) `f <b>`')
  const box = document.createElement('div')
  box.innerHTML = block!.html
  expect([...box.querySelectorAll('button')].map((each) => each.textContent)).toEqual([
    'src/a.ts:3',
    'b/c.go:4',
  ])
  expect(box.textContent?.trim()).toBe('In src/a.ts:3 and b/c.go:4, d/e.ts:5 f <b>')
})
