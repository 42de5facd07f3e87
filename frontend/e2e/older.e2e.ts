import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openPage } from './browser'
import { startHost } from './host'
import { useStage } from './stage'

const stage = useStage()

/**
 * Scrolls up by 120 px in each of so many frames, as a wheel that is turned fast. Returns the steps that took all rows
 * out of view that were in it, and those that drew a row in view anew; and how many rows were drawn.
 */
const scrollUp = (page: Page, steps: number) =>
  page.evaluate(async (steps) => {
    const box = document.querySelector('main [role=log]')!.firstElementChild!
    const rows = () => [...box.querySelectorAll<HTMLElement>('[data-item]')]
    const inView = () => {
      const view = box.getBoundingClientRect()
      const isInView = ({ top, bottom, height }: DOMRect) =>
        height > 0 && bottom > view.top && top < view.bottom
      const seen = rows().filter((row) => isInView(row.getBoundingClientRect()))
      return new Map(seen.map((row) => [row.dataset.item!, row]))
    }
    const drawn = new Set<string>()
    const lost: number[] = []
    const redrawn: string[] = []
    for (let step = 0; step < steps; step++) {
      const before = inView()
      box.dispatchEvent(new WheelEvent('wheel', { deltaY: -120, bubbles: true }))
      box.scrollTop -= 120
      await new Promise(requestAnimationFrame)
      const kept = [...inView()].filter(([key]) => before.has(key))
      if (kept.length === 0) lost.push(step)
      for (const [key, row] of kept) if (row !== before.get(key)) redrawn.push(`${step}: ${key}`)
      for (const row of rows()) drawn.add(row.dataset.item!)
    }
    return { lost, redrawn, drawn: drawn.size }
  }, steps)

test('older messages come above what is read, which stays in view', async () => {
  const host = (stage.host = await startHost({ messages: 1500 }))
  const { page, offences } = await openPage(stage.browser, host.url)
  await page.locator('[data-session="seed-long"]').click()
  await page.getByText('That was the newest message.').waitFor()
  const { lost, redrawn, drawn } = await scrollUp(page, 400)
  expect(lost).toEqual([])
  expect(redrawn).toEqual([])
  expect(drawn).toBeGreaterThan(120) // of several pages of the log
  expect(offences).toEqual([])
})
