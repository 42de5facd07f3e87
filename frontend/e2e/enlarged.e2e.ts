import { expect, test } from 'vitest'
import { violations } from './axe'
import { answer, openPage, prompt, shot, untilRest } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

async function start(rounds: Parameters<typeof startModel>[0]) {
  const model = (stage.model = await startModel(rounds))
  const host = (stage.host = await startHost({
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  return openPage(stage.browser, host.url)
}
const asks = { calls: [{ name: 'Bash', input: { command: 'rm -rf build' } }] }

// At 200 % a window of 1280 by 800 has half of the room: nothing is cut off, and all that is needed is in sight.
test('text of twice the size cuts nothing off', async () => {
  const { page, offences } = await start([asks, { text: 'Done.' }])
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await page.setViewportSize({ width: 640, height: 400 })
  const wide = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  await prompt(page, 'Clean up')
  const question = page.getByRole('region', { name: 'Needs you: Bash' })
  await question.waitFor()
  const allow = question.getByRole('button', { name: 'Allow', exact: true })
  await allow.scrollIntoViewIfNeeded()
  const box = (await allow.boundingBox())!
  expect(box.x >= 0 && box.x + box.width <= 640 && box.y + box.height <= 400).toBe(true)
  expect(await wide()).toBeLessThanOrEqual(0)
  await shot(page, 'enlarged-question')
  await answer(question)
  await page.getByText('Done.').waitFor()
  await untilRest(page)
  await page.keyboard.press('Control+,')
  const settings = page.getByRole('dialog', { name: 'Settings' })
  await settings.getByRole('tab', { name: 'Appearance' }).click()
  await settings.getByRole('radio', { name: 'Español' }).scrollIntoViewIfNeeded()
  expect(await wide()).toBeLessThanOrEqual(0)
  await shot(page, 'enlarged-settings')
  expect(offences).toEqual([])
})

// With the colours of the system, focus is seen and states are words.
test('forced colours show the focus and say the states', async () => {
  const { page, offences } = await start([asks, { text: 'Done.' }])
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await page.emulateMedia({ forcedColors: 'active' })
  await prompt(page, 'Clean up')
  const question = page.getByRole('region', { name: 'Needs you: Bash' })
  await question.waitFor()
  await page
    .getByRole('navigation', { name: 'Sessions' })
    .getByText(/needs you/i)
    .first()
    .waitFor()
  const unseen: string[] = []
  const reached: string[] = []
  for (let i = 0; i < 25; i++) {
    await page.keyboard.press('Tab')
    const [name, seen] = await page.evaluate(() => {
      const it = document.activeElement as HTMLElement
      const rings = [it, it.parentElement, it.closest('.composer')].map((each) => {
        const { outlineStyle, outlineWidth } = getComputedStyle(each ?? it)
        return outlineStyle !== 'none' && parseFloat(outlineWidth) > 0
      })
      const isField = /^(?:INPUT|TEXTAREA|BODY)$/.test(it.tagName) // which has a caret
      return [it.ariaLabel ?? it.innerText ?? it.tagName, isField || rings.includes(true)] as const
    })
    reached.push(name)
    if (!seen) unseen.push(name)
  }
  expect(unseen).toEqual([])
  expect(new Set(reached).size).toBeGreaterThan(10)
  const chosen = page
    .getByRole('navigation', { name: 'Sessions' })
    .locator('[aria-current]')
    .first()
  expect(await chosen.evaluate((it) => getComputedStyle(it).outlineStyle)).toBe('solid')
  await shot(page, 'forced-colours')
  await answer(question)
  await page.getByText('Done.').waitFor()
  expect(offences).toEqual([])
})

// A language is one file, which is loaded when it is chosen; what it lacks is English.
test('the page speaks Spanish and Japanese where it can', async () => {
  const { page, offences } = await start([asks, { text: 'Done.' }])
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  const found: string[] = []
  for (const [language, send, title] of [
    ['Español', 'Enviar', 'Te necesita: Bash'],
    ['日本語', '送信', '確認が必要です: Bash'],
  ] as const) {
    await page.keyboard.press('Control+,')
    const appearance = page.getByRole('tab', { name: /^(?:Appearance|Apariencia|外観)$/ })
    await appearance.click()
    await page.getByRole('radio', { name: language }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: send }).first().waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      found.push(...(await violations(page)).map((each) => `${language}, ${colorScheme}: ${each}`))
    }
    await shot(page, `language-${send}`)
    if (language === 'Español') {
      await page.locator('[data-composer]').fill('Limpia')
      await page.keyboard.press('Enter')
      await page.getByRole('region', { name: title }).waitFor()
      found.push(...(await violations(page)).map((each) => `${language}, a question: ${each}`))
      await shot(page, 'language-question')
      await page.getByRole('button', { name: 'Permitir', exact: true }).click()
      await page.getByText('Done.').waitFor()
    }
  }
  expect(await page.evaluate(() => document.documentElement.lang)).toBe('ja')
  expect(found).toEqual([])
  expect(offences).toEqual([])
})
