import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, prompt, shots, tabTo, untilFocused, untilRest } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

const filler = (n: number) =>
  Array.from({ length: 40 }, (_, k) => `Filler ${n}.${k} of the story.`).join('\n\n')

/** What the search marks: the current place, and how many others. */
const marks = (page: Page) =>
  page.evaluate(() => {
    const texts = (name: string) =>
      [...((CSS.highlights.get(name) ?? []) as Iterable<Range>)].map(String)
    return { current: texts('find-current'), others: texts('find').length }
  })

/** Whether the current place is in view. */
const isInView = (page: Page) =>
  page.evaluate(() => {
    const [range] = (CSS.highlights.get('find-current') ?? []) as Iterable<Range>
    const place = range?.getBoundingClientRect()
    const list = document.querySelector('[role=log]')!.getBoundingClientRect()
    return !!place && place.height > 0 && place.top >= list.top && place.bottom <= list.bottom
  })

async function stageStory() {
  const model = (stage.model = await startModel([
    { reasoning: 'A thimble comes to mind.', text: `A THIMBLE (.*) is here.\n\n${filler(0)}` },
    { calls: [{ name: 'Read', input: { file_path: 'box.txt' } }] },
    { text: filler(1) },
    ...Array.from({ length: 12 }, (_, n) => ({ text: filler(n + 2) })),
  ]))
  const host = (stage.host = await startHost({
    files: { 'box.txt': 'first line\nthe thimble lies in the box\n' },
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const opened = await openPage(stage.browser, host.url)
  for (let n = 0; n < 14; n++) {
    await prompt(opened.page, `Chapter ${n}`)
    const last = n === 0 ? 0 : n
    await opened.page.getByText(`Filler ${last}.39 of`).waitFor()
    await untilRest(opened.page)
  }
  return opened
}

test('a text is found in all of the conversation, unfolded and marked, by keyboard only', async () => {
  const { page, offences } = await stageStory()
  // Only what is near the end is drawn.
  await expect.poll(() => page.getByText('is here').count()).toBe(0)

  await page.keyboard.press('Control+f')
  const bar = page.getByRole('search', { name: 'Find in the conversation' })
  const status = bar.getByRole('status')
  await untilFocused(bar.locator('input'))
  await page.keyboard.type('thimble')
  await expect.poll(() => status.innerText()).toBe('3 of 3')
  await expect.poll(() => marks(page)).toMatchObject({ current: ['thimble'] })
  await expect.poll(() => isInView(page)).toBe(true)
  await page.getByText('the thimble lies').waitFor()
  await shots(page, 'find-tool')

  await page.keyboard.press('Shift+F3')
  await expect.poll(() => status.innerText()).toBe('2 of 3')
  await expect.poll(() => marks(page)).toMatchObject({ current: ['THIMBLE'] })
  await expect.poll(() => isInView(page)).toBe(true)
  await page.keyboard.press('Shift+Enter')
  await page.getByText('A thimble comes to mind.').waitFor()
  await expect.poll(() => marks(page)).toEqual({ current: ['thimble'], others: 1 })
  await expect.poll(() => isInView(page)).toBe(true)
  await shots(page, 'find')
  // Around the beginning to the newest hit, and back.
  await page.keyboard.press('Shift+F3')
  await expect.poll(() => status.innerText()).toBe('3 of 3')
  await page.keyboard.press('F3')
  await expect.poll(() => status.innerText()).toBe('1 of 3')

  await page.keyboard.press('Control+f')
  await page.keyboard.type('(.*)')
  await expect.poll(() => status.innerText()).toBe('1 of 1')
  await expect.poll(() => marks(page)).toEqual({ current: ['(.*)'], others: 0 })
  await page.keyboard.press('Control+a')
  await page.keyboard.type('nowhere at all')
  await expect.poll(() => status.innerText()).toBe('Not found')
  await shots(page, 'find-none')

  await page.keyboard.press('Escape')
  await bar.waitFor({ state: 'hidden' })
  await expect.poll(() => marks(page)).toEqual({ current: [], others: 0 })
  await untilFocused(page.getByRole('textbox', { name: 'Message', exact: true }))
  expect(offences).toEqual([])
})

test('the buttons go from place to place, and a search does not stop a turn, by keyboard only', async () => {
  let release = () => {}
  const rest = new Promise<void>((resolve) => (release = resolve))
  const model = (stage.model = await startModel([
    { text: 'alpha beta alpha\n\n```js\nconst alpha = "beta"\n```' },
    { reasoning: 'Thinking of alpha.', rest, text: 'The end.' },
  ]))
  const host = (stage.host = await startHost({
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  await prompt(page, 'Begin with alpha')
  await page.getByText('alpha beta alpha').waitFor()
  await untilRest(page)
  await prompt(page, 'Go on')
  await page.getByRole('button', { name: 'Stop' }).waitFor()
  await page.keyboard.press('Control+f')
  const bar = page.getByRole('search')
  await untilFocused(bar.locator('input'))
  await page.keyboard.type('alpha')
  await expect.poll(() => bar.getByRole('status').innerText()).toBe('4 of 4')
  await tabTo(bar.getByRole('button', { name: 'Previous match' }))
  await page.keyboard.press('Enter')
  await expect.poll(() => bar.getByRole('status').innerText()).toBe('3 of 4')
  await tabTo(bar.getByRole('button', { name: 'Next match' }))
  await page.keyboard.press('Space')
  await expect.poll(() => bar.getByRole('status').innerText()).toBe('4 of 4')
  expect(await violations(page)).toEqual([])
  await shots(page, 'find-code')
  await page.keyboard.press('F6')
  await page.keyboard.press('Escape')
  await bar.waitFor({ state: 'hidden' })
  expect(await page.getByRole('button', { name: 'Stop' }).isVisible()).toBe(true)
  release()
  await page.getByText('The end.').waitFor()
  expect(offences).toEqual([])
})
