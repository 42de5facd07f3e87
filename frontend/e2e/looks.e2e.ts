/** The states that are seen now and then, in English and Chinese, light and dark. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { answer, openPage, shot, untilRest } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

const fence = (source: string) => `\`\`\`mermaid\n${source}\n\`\`\`\n`
const kinds: Record<string, string> = {
  sequence:
    'sequenceDiagram\n  participant Page\n  participant Program\n  Page->>Program: conversation.send\n  activate Program\n  loop each round\n    Program->>Model: request\n    Model-->>Program: answer\n  end\n  Note over Page,Program: deltas arrive every 33 ms\n  Program-->>Page: events\n  deactivate Program',
  classes:
    'classDiagram\n  class Store {\n    +Append(events) int64\n    +Events(range) Event[]\n  }\n  class Log\n  Store <|-- Log\n  Store "1" *-- "many" Event : keeps',
  states:
    'stateDiagram-v2\n  [*] --> idle\n  idle --> processing: prompt\n  processing --> awaiting: question\n  awaiting --> processing: answer\n  processing --> idle: end\n  idle --> [*]',
  entities:
    'erDiagram\n  SESSION ||--o{ EVENT : has\n  SESSION {\n    string id\n    string title\n  }\n  EVENT {\n    int seq\n    string kind\n  }',
  branches:
    'gitGraph\n  commit\n  branch feature\n  commit\n  commit\n  checkout main\n  commit\n  merge feature',
  times:
    'timeline\n  title Issues\n  First : rooms\n  Second : library : plain English\n  Third : speed',
  shares: 'pie title Where the time goes\n  "Encoding" : 42\n  "Storage" : 33\n  "Network" : 25',
}
const file = (word: string) =>
  Array.from(
    { length: 30 },
    (_, n) => `func f${n}() int { return ${n % 4 ? n : `${word}(${n})`} }`,
  ).join('\n') + '\n'

/** The name of a part in each language. */
const words = {
  en: {
    question: 'Needs you: Write',
    allow: 'Allow',
    split: 'Show two columns',
    show: 'Show diagram',
    field: 'Message',
  },
  'zh-CN': {
    question: '等你决定：Write',
    allow: '允许',
    split: '分两栏显示',
    show: '显示图表',
    field: '消息',
  },
}

async function looks(page: Page, name: string, found: string[]) {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await shot(page, `looks-${name}-${colorScheme}`)
    found.push(...(await violations(page)).map((each) => `${name}, ${colorScheme}: ${each}`))
  }
  await page.emulateMedia({ colorScheme: 'light' })
}

const count = Object.keys(kinds).length
const pictures = (page: Page) => page.locator('img[src^="data:image/svg"]')
const sources = (page: Page) =>
  pictures(page).evaluateAll((all) => all.map((each) => (each as HTMLImageElement).src))

/** Has a file written that was not read before, and again once it was. */
async function start(locale: 'en' | 'zh-CN') {
  const model = (stage.model = await startModel([
    {
      text: 'I write it anew, without reading it first.',
      calls: [{ name: 'Write', input: { file_path: 'sums.go', content: file('twice') } }],
    },
    {
      text: 'I look first.',
      calls: [
        { name: 'Read', input: { file_path: 'sums.go' } },
        { name: 'Grep', input: { pattern: 'f1' } },
      ],
    },
    { calls: [{ name: 'Write', input: { file_path: 'sums.go', content: file('twice') } }] },
    { text: 'Done, in `sums.go:4`.' },
  ]))
  const host = (stage.host = await startHost({
    files: { 'sums.go': file('once') },
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  return openPage(stage.browser, host.url, { locale })
}

/** Where the first text of a part stands. */
function firstText(part: Element): number {
  const texts = document.createTreeWalker(part, NodeFilter.SHOW_TEXT)
  const range = document.createRange()
  while (texts.nextNode()) {
    if (texts.currentNode.textContent!.trim() === '') continue
    range.selectNodeContents(texts.currentNode)
    const { top, height } = range.getBoundingClientRect()
    if (height > 4) return Math.round(top)
  }
  return 0
}

test.each(['en', 'zh-CN'] as const)(
  'axe finds nothing in what is seen now and then, in %s',
  async (locale) => {
    const { page, offences } = await start(locale)
    const say = words[locale]
    const found: string[] = []
    const seen = (name: string) => looks(page, `${locale}-${name}`, found)

    const field = page.getByRole('textbox', { name: say.field })
    await field.fill('Double every fourth one')
    await page.keyboard.press('Enter')
    const question = page.getByRole('region', { name: say.question })
    // The first write fails unasked, because the file was not read.
    await page.getByText('I look first.').waitFor()
    await question.locator('.row.del', { hasText: 'once(4)' }).waitFor()
    await seen('asked')
    await answer(question, say.allow)
    await page.getByText('Done, in').waitFor()
    await untilRest(page)
    for (const density of ['verbose', 'summary']) {
      await field.focus()
      await page.keyboard.press('Control+o')
      await seen(density)
    }
    await page.keyboard.press('Control+o')
    await page.getByText('Done, in').hover()
    await seen('hovered')

    const panel = page.locator('aside:has(#panel-title)')
    await panel.waitFor()
    await page.setViewportSize({ width: 900, height: 800 })
    await panel.waitFor({ state: 'detached' })
    await page.keyboard.press('Control+.')
    await panel.waitFor()
    await seen('floating')
    await page.keyboard.press('Escape')
    await page.setViewportSize({ width: 1280, height: 800 })

    await page.keyboard.press('Control+,')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('tab').first().waitFor()
    const tops: number[] = []
    for (const [n, tab] of (await dialog.getByRole('tab').all()).entries()) {
      await tab.click()
      const top = () => dialog.getByRole('tabpanel').evaluate(firstText)
      await expect.poll(top).toBeGreaterThan(0) // it may still be loaded
      await seen(`settings-${n}`)
      tops.push(await top())
    }
    expect(Math.max(...tops) - Math.min(...tops), `${tops}`).toBeLessThan(6)
    expect(found).toEqual([])
    expect(offences).toEqual([])
  },
)

test('diagrams of other kinds are drawn in the colours of the page', async () => {
  const model = (stage.model = await startModel([
    { text: `${Object.values(kinds).map(fence).join('\n')}\nThat is all.` },
  ]))
  stage.host = await startHost({ env: { COMPAT_BASE_URL: model.url } })
  const { page, offences } = await openPage(stage.browser, stage.host.url, { locale: 'en' })
  const say = words.en
  await page.getByRole('textbox', { name: say.field }).fill('How?')
  await page.keyboard.press('Enter')
  await page.getByText('That is all.').waitFor()
  await untilRest(page)
  for (let left = count; left > 0; left--) {
    await page.getByRole('button', { name: say.show }).first().press('Enter')
    await expect.poll(() => pictures(page).count()).toBe(count - left + 1)
  }
  const light = await sources(page)
  // The slices are told apart by their colours.
  const slices = decodeURIComponent(light.at(-1)!).match(/<path[^>]*pieCircle[^>]*>/g) ?? []
  const fills = new Set(slices.map((slice) => /fill="([^"]+)"/.exec(slice)?.[1]))
  expect(fills.size).toBe(3)
  const show = async (theme: string) => {
    for (const [n, kind] of Object.keys(kinds).entries()) {
      await pictures(page).nth(n).scrollIntoViewIfNeeded()
      await shot(page, `looks-${kind}-${theme}`)
    }
  }
  await show('light')
  await page.emulateMedia({ colorScheme: 'dark' })
  await expect
    .poll(async () => (await sources(page)).filter((each) => light.includes(each)))
    .toEqual([])
  await show('dark')
  expect(await violations(page)).toEqual([])
  expect(offences).toEqual([])
})
