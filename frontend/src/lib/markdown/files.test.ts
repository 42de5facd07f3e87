import { afterAll, beforeAll, expect, test } from 'vitest'
import { piecesOf, placeIn, pressedPlace, setRoot } from './files'
import { renderMarkdown } from './render'

beforeAll(() => setRoot('/work/shop'))
afterAll(() => setRoot(''))

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
  [
    'src/über.ts:12 src/登录page.tsx:12 文档/说明.md:12 日本/ページ.ts:1',
    ['src/über.ts@12', 'src/登录page.tsx@12', '文档/说明.md@12', '日本/ページ.ts@1'],
  ],
  ['请看src/a.ts:12，然后打开main.go:3。', ['src/a.ts@12', 'main.go@3']],
  ['a+b/c#d.cs:12 c++/x.hpp:3', ['a+b/c#d.cs@12', 'c++/x.hpp@3']],
  [
    'app/[id]/page.tsx:12 app/(dash)/page.tsx:1 app/[...slug]/p.ts:2 (routes/(a)/+page.svelte:3)',
    [
      'app/[id]/page.tsx@12',
      'app/(dash)/page.tsx@1',
      'app/[...slug]/p.ts@2',
      'routes/(a)/+page.svelte@3',
    ],
  ],
  ['Makefile:12 docker/Dockerfile:3 Fakefile:2', ['Makefile@12', 'docker/Dockerfile@3']],
  ['/work/shop/src/a.ts:3 /work/shop2/b.ts:4 /work/shop/../x.ts:1', ['src/a.ts@3']],
  ['src/a.ts#L16 src/b.ts#L3-L9 c.go:12-20', ['src/a.ts@16', 'src/b.ts@3', 'c.go@12']],
  ['a.ts(17,3): error TS2304, Program.cs(4): warning', ['a.ts@17', 'Program.cs@4']],
  [
    '  File "a.py", line 18, in f\n  File "/work/shop/b c.py", line 2\n  File "/usr/lib/x.py", line 1',
    ['a.py@18', 'b c.py@2'],
  ],
  [' --> src/main.rs:3:5\n  at com.x.Foo.bar(Foo.java:12)', ['src/main.rs@3', 'Foo.java@12']],
  ['src\\win\\a.cs:7 .\\b.ps1:2', ['src/win/a.cs@7', './b.ps1@2']],
  ['src/a.ts, docs/b.md and and/or a.ts x/y', ['src/a.ts@1', 'docs/b.md@1']],
  ['application/json text/html a/b.example.com/c https://x.org/a/b.ts', []],
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

test.each([
  ['my file.ts:12', { path: 'my file.ts', line: 12 }],
  ['src/登录 page.tsx:3', { path: 'src/登录 page.tsx', line: 3 }],
  ['登录page.tsx#L4', { path: '登录page.tsx', line: 4 }],
  ['/work/shop/a b/c.go:7', { path: 'a b/c.go', line: 7 }],
  ['go vet a.go', undefined],
  ['x = a.b:3', undefined],
  ['/etc/a b.conf:1', undefined],
])('the whole code %j names %j', (text, want) => expect(placeIn(text)).toEqual(want))

test.each([
  ['[the code](src/a.ts#L19)', { path: 'src/a.ts', line: 19 }],
  ['[the code](</work/shop/src/my file.ts:3>)', { path: 'src/my file.ts', line: 3 }],
  ['[a](app/[id]/page.tsx:2)', { path: 'app/[id]/page.tsx', line: 2 }],
  ['[说明](文档/说明.md#L5)', { path: '文档/说明.md', line: 5 }],
  ['[a](./docs/x.md)', { path: './docs/x.md', line: 1 }],
])('the link %s opens a file', (text, want) => {
  const box = document.createElement('div')
  box.innerHTML = renderMarkdown(text)[0]!.html
  const button = box.querySelector('button')!
  let place: unknown
  box.addEventListener('click', (event) => (place = pressedPlace(event)))
  button.click()
  expect(place).toEqual(want)
})

test.each([
  '[a](../up.ts#L3)',
  '[a](/etc/passwd.conf:1)',
  '[a](javascript:alert.js:1)',
  '[a](file:///work/shop/a.ts:1)',
  '![a](docs/a.md)',
])('%s is no link', (text) => {
  const box = document.createElement('div')
  box.innerHTML = renderMarkdown(text)[0]!.html
  expect(box.querySelector('a, button[title]')).toBeNull()
})
