import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import {
  answer,
  answerByKey,
  openPage,
  prompt,
  resting,
  shot,
  shots,
  tabTo,
  unfoldTurn,
  unfoldTurnByKey,
} from './browser'
import { startHost } from './host'
import { startModel, type Round } from './model'
import { useStage } from './stage'

const stage = useStage()

const before = `package cart

import "fmt"

/* A cart holds what a
   customer wants to buy. */
type Cart struct {
	items []Item
}

// Total adds up the prices of all items.
func (c *Cart) Total() int {
	total := 0
	for _, item := range c.items {
		total += item.Price
	}
	return total
}

func (c *Cart) String() string {
	return fmt.Sprintf("%d items, %d in all, of which the first is called %q and the last is called %q", len(c.items), c.Total(), c.items[0].Name, c.items[len(c.items)-1].Name)
}
`
const after = before
  .replace('prices of all items', 'prices of all items, with tax')
  .replace('Total() int {\n\ttotal := 0', 'Total(tax float64) int {\n\ttotal := 0')
  .replace(
    '\t\ttotal += item.Price\n',
    '\t\tif item.Free {\n\t\t\tcontinue\n\t\t}\n\t\ttotal += item.Price // \u202e all\n',
  )
  .replace('return total\n', 'return int(float64(total) * (1 + tax))\n')
  .replace('c.Total(), c.items[0]', 'c.Total(0.2), c.items[0]')

async function start(rounds: Round[], files: Record<string, string>) {
  const model = (stage.model = await startModel(rounds))
  stage.host = await startHost({
    files,
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  })
  return openPage(stage.browser, stage.host.url)
}

const write = (content: string, name = 'cart.go'): Round => ({
  calls: [
    { name: 'Read', input: { file_path: name } },
    { name: 'Write', input: { file_path: name, content } },
  ],
})

async function allow(page: Page) {
  const question = page.getByRole('region', { name: 'Needs you: Write' })
  await question.waitFor()
  await answerByKey(page)
  await page.getByText('Done.', { exact: true }).waitFor()
  await unfoldCard(page)
}

async function unfoldCard(page: Page) {
  await unfoldTurnByKey(page)
  await tabTo(page.getByRole('button', { name: /details of Write/ }))
  await page.keyboard.press('Enter')
}

test('a change is read in words and colours, in one column and two, by keyboard only', async () => {
  const { page, offences } = await start([write(after), { text: 'Done.' }], { 'cart.go': before })
  await prompt(page, 'Add tax')
  const question = page.getByRole('region', { name: 'Needs you: Write' })
  const asked = question.getByRole('table', { name: 'Changes in cart.go' })
  await asked.locator('.word', { hasText: 'float64' }).first().waitFor()
  await asked.locator('mark', { hasText: '⟨U+202E⟩' }).waitFor()
  await shots(page, 'diff-question')
  await allow(page)
  const table = page.getByRole('table', { name: 'Changes in cart.go' })
  await table.locator('.hljs-keyword').first().waitFor()
  await shots(page, 'diff-card')

  await page.setViewportSize({ width: 1600, height: 1000 })
  // The panel of changes has opened itself.
  await page.getByRole('complementary', { name: 'Changes' }).waitFor()
  await page.keyboard.press('Control+.')
  await expect.poll(async () => (await table.boundingBox())!.width).toBeGreaterThan(900)
  const tools = page.getByRole('group', { name: 'How diffs are shown' })
  const press = async (name: string) => {
    await tabTo(tools.getByRole('button', { name }))
    await page.keyboard.press('Enter')
  }
  await press('Show two columns')
  await table.locator('.half').first().waitFor()
  await shot(page, 'diff-split')
  await page.emulateMedia({ colorScheme: 'dark' })
  await shot(page, 'diff-split-dark')
  await page.reload()
  await unfoldCard(page)
  await table.locator('.half').first().waitFor()
  await press('Show two columns')
  await press('Wrap long lines')
  await page.emulateMedia({ colorScheme: 'light' })
  await shot(page, 'diff-scrolls')
  const scrolled = (it: HTMLElement | SVGElement) => (it.scrollTo(400, 0), it.scrollLeft)
  await expect.poll(() => table.evaluate(scrolled)).toBeGreaterThan(0)
  await shot(page, 'diff-scrolled')
  expect(offences).toEqual([])
})

test('a diff is gone through, by keyboard only', async () => {
  const { page, offences } = await start([write(after), { text: 'Done.' }], { 'cart.go': before })
  await prompt(page, 'Add tax')
  await allow(page)
  await tabTo(page.getByRole('table', { name: 'Changes in cart.go' }))
  // The body has all texts, and the focus for a moment when a form closes.
  const focused = () =>
    page.evaluate(() => document.activeElement?.closest('body *')?.textContent ?? '')
  for (const [key, text] of [
    ['n', 'adds up the prices'],
    ['j', 'Total() int'],
    ['n', 'total += item.Price'],
    ['n', 'return total'],
    ['p', 'total += item.Price'],
    ['k', 'range c.items'],
  ]) {
    await page.keyboard.press(key!)
    await expect.poll(focused, { message: key }).toContain(text)
  }
  await shot(page, 'diff-keys')
  expect(offences).toEqual([])
})

test('20,000 lines open at once, and scroll without a long frame', async () => {
  const line = (at: number) => `\tconst value${at} = compute(${at}, "text ${at}")`
  const lines = Array.from({ length: 20_000 }, (_, at) => line(at))
  const changed = lines.map((text, at) => (at % 2 ? text : text.replace('compute', 'measure')))
  const { page, offences } = await start(
    [write(changed.join('\n') + '\n', 'big.ts'), { text: 'Done.' }],
    { 'big.ts': lines.join('\n') + '\n' },
  )
  await prompt(page, 'Measure them')
  await answer(page.getByRole('region', { name: 'Needs you: Write' }))
  await page.getByText('Done.', { exact: true }).waitFor()
  await page.evaluate(() => {
    const frames: number[] = []
    Object.assign(window, { frames })
    let last = performance.now()
    const next = (now: number) => {
      frames.push(now - last)
      last = now
      requestAnimationFrame(next)
    }
    requestAnimationFrame(next)
  })
  const begun = Date.now()
  await unfoldTurn(page)
  await page.getByRole('button', { name: /details of Write/ }).click()
  const table = page.getByRole('table', { name: 'Changes in big.ts' })
  await table.getByRole('row').first().waitFor()
  const opened = Date.now() - begun
  const take = () =>
    page.evaluate(() => (window as unknown as { frames: number[] }).frames.splice(0))
  const opening = await take()
  await shot(page, 'diff-big')
  const body = page.locator('.body').filter({ has: table })
  await body.hover()
  await take()
  for (let turn = 0; turn < 60; turn++) await page.mouse.wheel(0, 400)
  await resting(table)
  const scrolling = await take()
  await shot(page, 'diff-big-scrolled')
  const rows = await table.getByRole('row').count()
  const worst = (frames: number[]) => Math.round(Math.max(...frames))
  console.log({ opened, rows, opening: worst(opening), scrolling: worst(scrolling) })
  expect(Number(await table.getAttribute('aria-rowcount'))).toBeGreaterThanOrEqual(30_000)
  expect(rows).toBeGreaterThan(20)
  expect(rows).toBeLessThan(400)
  expect(offences).toEqual([])
})
