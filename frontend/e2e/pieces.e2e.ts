import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, prompt, shots, untilFocused, untilRest } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

const section = (n: number) =>
  `## Section ${n}\n\n${`Sentence of section ${n}, and all that. `.repeat(12)}\n\n` +
  (n % 16 === 2 ? `A thimble is in ${n}.\n\n` : '') +
  `- one of ${n}\n- two of ${n}\n\n\`\`\`go\nfunc section${n}() {}\n\`\`\`\n`

/** An answer of some 24,000 characters, whose footnote and address are at its end. */
const long =
  `It begins with a [note][^1] and a [link][site].\n\n` +
  Array.from({ length: 36 }, (_, n) => section(n)).join('\n') +
  `\nIt refers to the note again[^1].\n\n[site]: https://example.com/site\n[^1]: What the note says.\n`

const filler = 'A short answer.\n\n'.repeat(60)

async function begin() {
  const model = (stage.model = await startModel([{ text: long }, { text: filler }]))
  const host = (stage.host = await startHost({
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const opened = await openPage(stage.browser, host.url, {
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  await prompt(opened.page, 'Say a lot')
  await opened.page.getByText('It refers').waitFor()
  await untilRest(opened.page)
  return opened
}

/** How much of the long answer is drawn. */
const drawn = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('.markdown')]
      .map(({ textContent }) => textContent.match(/Section \d+/g)?.length ?? 0)
      .reduce((sum, n) => sum + n, 0),
  )

/** Scrolls to the start as a held wheel does: which sections were drawn, and how many of them came with one frame. */
const scrollUp = (page: Page) =>
  page.evaluate(async () => {
    const box = document.querySelector('main [role=log]')!.firstElementChild!
    const seen = new Set<string>()
    let most = 0
    while (box.scrollTop > 0) {
      box.dispatchEvent(new WheelEvent('wheel', { deltaY: -120, bubbles: true }))
      box.scrollTop -= 120
      await new Promise(requestAnimationFrame)
      const before = seen.size
      for (const [section] of box.textContent.matchAll(/Section \d+/g)) seen.add(section)
      most = Math.max(most, seen.size - before)
    }
    return { most, all: seen.size }
  })

test('a long answer is drawn in pieces as it is scrolled, and as a whole at rest', async () => {
  const { page, offences } = await begin()
  await prompt(page, 'Say little')
  await untilRest(page)
  await page.getByText('A short answer.').last().waitFor()
  await expect.poll(() => drawn(page)).toBe(0)
  const { most, all } = await scrollUp(page)
  expect(all).toBe(36)
  expect(most).toBeLessThan(12)
  // The beginning is in view now, and the rest of the answer follows it.
  await expect.poll(() => drawn(page)).toBe(36)
  expect(await violations(page)).toEqual([])

  // Between two pieces is as much room as between other blocks.
  const margins = await page
    .locator('.markdown.goes-on > :last-child')
    .evaluateAll((ends) => ends.map((end) => getComputedStyle(end).marginBottom))
  expect(new Set(margins)).toEqual(new Set(['8px']))

  // Its text is one: it is selected from its beginning to its end.
  const selected = await page.evaluate(() => {
    const all = [...document.querySelectorAll('.markdown')]
    const [first, last] = [all.find((it) => it.textContent.includes('It begins')), all.at(-1)]
    const end = all.findLast((it) => it.textContent.includes('It refers')) ?? last
    getSelection()!.setBaseAndExtent(first!, 0, end!, end!.childNodes.length)
    return String(getSelection())
  })
  expect(selected.match(/Section \d+/g)).toHaveLength(36)
  expect(selected).toMatch(/^It begins[^]*What the note says/)
  expect(offences).toEqual([])
})

test('what belongs to a whole long answer finds its place in it', async () => {
  const { page, offences } = await begin()
  await page.keyboard.press('Alt+Home')
  await page.getByRole('log').getByText('Say a lot').waitFor()

  // An address that is written at the end.
  expect(await page.getByRole('link', { name: 'link', exact: true }).getAttribute('href')).toBe(
    'https://example.com/site',
  )
  // A footnote at the end, and the way back.
  await expect.poll(() => drawn(page)).toBe(36)
  await page.getByRole('button', { name: 'Footnote 1' }).first().press('Enter')
  await untilFocused(page.locator('ol.notes > li'))
  await expect.poll(() => page.locator('ol.notes > li').isVisible()).toBe(true)
  await page.locator('ol.notes .note-back').first().press('Enter')
  await untilFocused(page.getByRole('button', { name: 'Footnote 1' }).first())

  // Search counts in all of it, and goes to a place in its middle.
  await page.keyboard.press('Control+f')
  const bar = page.getByRole('search', { name: 'Find in the conversation' })
  await bar.locator('input').fill('thimble')
  const current = () =>
    page.evaluate(() => {
      const [range] = (CSS.highlights.get('find-current') ?? []) as Iterable<Range>
      const list = document.querySelector('[role=log]')!.getBoundingClientRect()
      const place = range?.getBoundingClientRect()
      const isIn = !!place && place.top >= list.top && place.bottom <= list.bottom
      return isIn ? range!.startContainer.textContent : 'not in view'
    })
  for (const [n, place] of [
    [34, '3 of 3'],
    [18, '2 of 3'],
    [2, '1 of 3'],
  ] as const) {
    await expect.poll(() => bar.getByRole('status').innerText()).toBe(place)
    await expect.poll(current).toBe(`A thimble is in ${n}.`)
    await page.keyboard.press('Shift+F3')
  }
  await page.keyboard.press('Escape')

  // Its actions are beside the piece under the pointer, once, and copy all of it.
  await page.keyboard.press('Alt+Home')
  await page.getByText('one of 3', { exact: true }).hover()
  await expect.poll(() => page.getByRole('toolbar').count()).toBe(1)
  await page.getByRole('toolbar').getByRole('button', { name: 'Copy as Markdown' }).click()
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText())
  await expect.poll(clipboard).toBe(long)

  // The keyboard walks over it in one step, and it is one group.
  await page.getByRole('textbox', { name: 'Message' }).focus()
  await page.keyboard.press('Alt+ArrowUp')
  await page.keyboard.press('Alt+ArrowUp')
  const label = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
  await expect.poll(label).toMatch(/^Your message: Say a lot/)
  await page.keyboard.press('ArrowDown')
  await expect.poll(label).toMatch(/^Answer: It begins/)
  await shots(page, 'pieces')
  await page.keyboard.press('c')
  await expect.poll(clipboard).toContain('Section 35')
  expect(offences).toEqual([])
})
