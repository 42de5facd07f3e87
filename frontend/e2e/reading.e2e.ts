import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openPage, prompt, shots, untilRest } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

const answer = `| Package | Line | Owner | What changes there, and why it has to change before the release is cut |
|---|--:|---|---|
| \`internal/router/router.go\` | 128 | Ada Lovelace | The route table is rebuilt for each request, which costs a third of the time |
| \`cmd/shop/main.go\` | 7 | Grace Hopper | Reads the flag; see https://example.com/a/rather/long/address/that/cannot/be/broken/anywhere |

שלום, זה \`make test\` ואחר כך סוף.

- [x] read the router
- [ ] change it

\`\`\`go
// Serve answers one request, and this comment is longer than the column of prose is wide, so it has to scroll or wrap.
func Serve(w http.ResponseWriter, r *http.Request) { table.Load().ServeHTTP(w, r) }
\`\`\`

And all of it:

\`\`\`go
${'// a line of code that says rather more than it has to, at a length that no column of prose would ever take up, so that it scrolls sideways\n'.repeat(11)}return
\`\`\`
`

const colours = [
  '\x1b[31mred\x1b[0m \x1b[35mmagenta\x1b[0m \x1b[36mcyan\x1b[0m \x1b[34mblue\x1b[0m',
  '\x1b[41;37m FAIL \x1b[0m \x1b[42;30m PASS \x1b[0m \x1b[7mreverse\x1b[0m \x1b[4munderlined\x1b[0m',
  '\x1b[38;5;208morange\x1b[0m \x1b[38;2;0;0;139mdark blue\x1b[0m \x1b[48;2;20;60;20mon green\x1b[0m',
].join('\n')

test('tables, code, a file, colours and right-to-left text are readable', async () => {
  const model = (stage.model = await startModel([
    {
      calls: [
        { name: 'Read', input: { file_path: 'main.go' } },
        { name: 'Bash', input: { command: 'cat colours' } },
      ],
    },
    { text: answer },
  ]))
  const host = (stage.host = await startHost({
    files: {
      'main.go': 'package main\n\n/* one\n   two */\nfunc main() { println("hi") }\n',
      colours,
    },
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  await prompt(page, 'מה קורה כאן? main.go')
  await page.getByText('read the router').waitFor()
  await untilRest(page)

  // No word in a table is broken: each cell is at least as wide as its longest word.
  const broken = await page.locator('.markdown table').evaluate((table) => {
    const words = [...table.querySelectorAll('th, td')].flatMap((cell) => {
      const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
      const found: string[] = []
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        for (const { 0: word, index } of (node.textContent ?? '').matchAll(/[\w./]+/g)) {
          const range = document.createRange()
          range.setStart(node, index)
          range.setEnd(node, index + word.length)
          if (range.getClientRects().length > 1) found.push(word)
        }
      }
      return found
    })
    const prose = table.parentElement!.querySelector('p')!
    return { words, isWider: table.clientWidth > prose.clientWidth }
  })
  expect(broken).toEqual({ words: [], isWider: true })

  const direction = (text: string) =>
    page
      .getByRole('log')
      .getByText(text)
      .last()
      .evaluate((element) => getComputedStyle(element).direction)
  expect(await direction('ואחר כך')).toBe('rtl')
  expect(await direction('מה קורה')).toBe('rtl')
  expect(await direction('read the router')).toBe('ltr')

  // The buttons for copying and wrapping are visible without hovering, and wrapping is a toggle.
  const wrap = page.getByRole('button', { name: 'Wrap long lines' }).first()
  const code = page.locator('figure pre').first()
  const isWide = () => code.evaluate((pre) => pre.scrollWidth > pre.clientWidth)
  await expect.poll(isWide).toBe(true)
  await wrap.press('Enter')
  await expect.poll(isWide).toBe(false)
  await wrap.press('Enter')
  await page.getByRole('button', { name: 'Copy code' }).first().waitFor()

  // By keyboard: to reach a button with the mouse, the test would scroll without a wheel, and the list returns to its end.
  await page.getByRole('button', { name: /^1 read, 1 command/ }).press('Enter')
  const group = page.getByRole('button', { name: 'Read 1, ran 1' })
  await group.press('Enter')
  await page
    .getByRole('button', { name: /details of Read\b/ })
    .first()
    .press('Enter')
  await page.locator('.hljs-keyword', { hasText: 'package' }).waitFor()
  expect(await page.locator('pre', { hasText: 'package main' }).innerText()).not.toContain('|')
  await page
    .getByRole('button', { name: /Bash\b/ })
    .first()
    .press('Enter')
  const fail = page.getByText('FAIL')
  expect(
    await fail.evaluate((span) => {
      const { color, backgroundColor } = getComputedStyle(span)
      return color !== backgroundColor && backgroundColor !== 'rgba(0, 0, 0, 0)'
    }),
  ).toBe(true)
  await fail.scrollIntoViewIfNeeded()
  await shots(page, 'reading-calls')
  const numbered = page.locator('figure .numbered')
  await numbered.scrollIntoViewIfNeeded()
  const numbers = await numbered.evaluate((pre) => {
    pre.scrollLeft = 10_000
    const widths = [...document.querySelectorAll('.markdown > p')].map((p) => p.clientWidth)
    return {
      lines: pre.querySelectorAll('.line').length,
      text: pre.textContent,
      wider: pre.clientWidth - Math.max(...widths),
    }
  })
  expect(numbers).toMatchObject({ lines: 12, text: expect.not.stringContaining('12') })
  expect(numbers.wider).toBeGreaterThan(0)
  await shots(page, 'reading-code')
  await page.getByRole('button', { name: 'Wrap long lines' }).last().press('Enter')
  await expect.poll(() => numbered.evaluate((pre) => pre.scrollWidth > pre.clientWidth)).toBe(false)
  const height = (await numbered.locator('.line').first().boundingBox())!.height
  const last = (await numbered.locator('.line').last().boundingBox())!.height
  expect(height).toBeGreaterThan(last)
  await shots(page, 'reading-code-wrapped')
  await page.getByText('read the router').scrollIntoViewIfNeeded()
  await shots(page, 'reading')
  expect(offences).toEqual([])
})

test('a very long answer shows its beginning, its end and its size, and all of it on demand', async () => {
  const filler = 'The middle of the answer says the same again and again.\n\n'.repeat(20_000)
  const thought = 'Thinking, and then some more. '.repeat(10_000)
  const model = (stage.model = await startModel([
    {
      reasoning: `First thought. ${thought}Last thought.`,
      text: `# How it begins\n\n${filler}Exactly halfway.\n\n${filler}## How it ends`,
    },
  ]))
  const host = (stage.host = await startHost({
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  await prompt(page, 'Say more than anybody would read.')
  const showAll = page.getByRole('button', { name: /Show all \(2\.\d MB\)/ })
  await showAll.waitFor()
  await untilRest(page)
  await page.getByRole('heading', { name: 'How it begins' }).waitFor()
  await page.getByRole('heading', { name: 'How it ends' }).waitFor()
  const texts = await page.locator('.answer').allInnerTexts()
  expect(texts.join('\n')).not.toContain('Exactly halfway')
  await showAll.scrollIntoViewIfNeeded()
  await shots(page, 'reading-long')

  await showAll.click()
  const dialog = page.getByRole('dialog', { name: 'Answer' })
  await dialog.getByText('First thought').waitFor()
  await shots(page, 'reading-long-whole')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  expect(offences).toEqual([])
})

test('a place in a file opens in the editor, from an answer and from a search', async () => {
  const programs = await mkdtemp(join(tmpdir(), 'atelier-editor-'))
  const opened = join(programs, 'opened')
  await writeFile(join(programs, 'code'), `#!/bin/sh\necho "$@" > ${opened}\n`, { mode: 0o755 })
  const model = (stage.model = await startModel([
    { calls: [{ name: 'Grep', input: { pattern: 'needle', output_mode: 'content' } }] },
    { text: 'It is in `src/cart.go:2`, not in gone/away.go:9, nor at example.com:443.' },
  ]))
  const host = (stage.host = await startHost({
    files: { 'src/cart.go': 'package cart\n// a needle\n' },
    env: {
      COMPAT_BASE_URL: model.url,
      COMPAT_API_KEY: 'test-key',
      PATH: `${programs}:${process.env.PATH}`,
      VISUAL: 'code',
    },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  await prompt(page, 'Where is the needle?')
  await page.getByText('nor at example.com').waitFor()
  await untilRest(page)
  const log = page.getByRole('log')
  expect(await log.getByRole('button', { name: 'example.com' }).count()).toBe(0)
  const said = () => readFile(opened, 'utf8').catch(() => '')

  await log.getByRole('button', { name: 'src/cart.go:2', exact: true }).press('Enter')
  await expect.poll(said).toContain(`${join(host.folder, 'src/cart.go')}:2`)
  await rm(opened)
  await log.getByRole('button', { name: /Grep/ }).click()
  await log.getByRole('button', { name: 'src/cart.go:2', exact: true }).first().click()
  await expect.poll(said).toContain(`${join(host.folder, 'src/cart.go')}:2`)
  await shots(page, 'reading-places')

  await log.getByRole('button', { name: 'gone/away.go:9' }).click()
  await page.getByRole('alert').waitFor()
  await shots(page, 'reading-places-gone')
  await rm(programs, { recursive: true })
  expect(offences).toEqual([])
})
