/** Opens the page in Debian's Chromium and records everything that must not happen. */
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { patience } from './patience'

export type Watched = {
  page: Page
  /** Errors on the console, violations of the content security policy, and requests to other hosts. */
  offences: string[]
}

export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce', // an animation would draw for as long as a turn runs
    ...options,
  })
  context.setDefaultTimeout(patience)
  slowDown(context)
  const page = await context.newPage()
  const offences: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) offences.push(message.text())
  })
  page.on('pageerror', (error) => offences.push(String(error)))
  const { host } = new URL(url)
  page.on('request', (request) => {
    const target = new URL(request.url())
    if (target.host !== host && /^(https?|wss?):$/.test(target.protocol)) {
      offences.push(`request to ${request.url()}`)
    }
  })
  page.on('dialog', (dialog) => {
    offences.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) =>
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`),
    )
  })
  // A journey whose name says so uses the keyboard alone.
  if (/by keyboard only/.test(expect.getState().currentTestName ?? '')) {
    await page.addInitScript(() => {
      for (const type of ['pointerdown', 'wheel']) {
        addEventListener(type, () => console.error(`a pointer was used: ${type}`), true)
      }
    })
  }
  await page.goto(url)
  return { page, offences }
}

/** Slows the processor of all pages by the factor in SLOW_PAGE, which shows the races of a journey. */
function slowDown(context: BrowserContext): void {
  const rate = Number(process.env.SLOW_PAGE ?? 1)
  if (rate === 1) return
  context.on('page', async (page) => {
    const session = await context.newCDPSession(page)
    await session.send('Emulation.setCPUThrottlingRate', { rate })
  })
}

/** Types a message and sends it with the keyboard, once the one before it was taken. */
export async function prompt(page: Page, text: string): Promise<void> {
  const field = page.getByRole('textbox', { name: 'Message', exact: true })
  await page.locator('.composer[aria-busy=false]').waitFor()
  await field.fill(text)
  const ways = { name: /^(Send|Run|Steer|Follow up)/, disabled: false }
  await composerOf(page).getByRole('button', ways).first().waitFor()
  await field.press('Enter')
}

const composerOf = (page: Page) => page.locator('.composer')

/** Waits until what has begun to run, such as a turn, is over. Until then the conversation moves. */
export const untilRest = (page: Page): Promise<void> =>
  composerOf(page)
    .getByRole('button', { name: /^(Stop|停止|正在停止)/ })
    .waitFor({ state: 'detached' })

/** Presses Shift+Tab until edits need no question. */
export async function acceptEdits(page: Page): Promise<void> {
  for (const mode of ['Plan', 'Accept edits']) {
    await page.getByRole('textbox', { name: 'Message', exact: true }).press('Shift+Tab')
    await page.getByRole('combobox', { name: `Permission mode: ${mode}` }).waitFor()
  }
}

/** Waits until something has the focus. */
export const untilFocused = (target: Locator) =>
  target.and(target.page().locator(':focus')).waitFor()

/** Resolves when what a key changed is drawn. */
export const untilDrawn = (page: Page): Promise<void> =>
  page.evaluate(
    () =>
      new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
  )

/** Waits until no dialog, menu or list is open, because until then the shortcuts do nothing. */
export const untilUncovered = (page: Page) =>
  expect.poll(() => page.locator('[role=dialog], [role=menu], [role=listbox]').count()).toBe(0)

/** The position of an element once it has not moved for ten frames. */
export const resting = (locator: Locator) =>
  locator.evaluate(
    (it) =>
      new Promise<number>((resolve) => {
        let [y, still] = [it.getBoundingClientRect().y, 0]
        const look = () => {
          const now = it.getBoundingClientRect().y
          still = now === y ? still + 1 : 0
          y = now
          if (still === 10) resolve(y)
          else requestAnimationFrame(look)
        }
        look()
      }),
  )

/** Waits until a question takes answers. */
export async function untilArmed(question: Locator): Promise<void> {
  await question.and(question.page().locator('[data-armed=true]')).waitFor()
}

/** Presses Tab, or Shift+Tab for what is before the focus, until something has the focus. */
export async function tabTo(target: Locator): Promise<void> {
  await target.and(target.page().locator(':not(:disabled)')).waitFor()
  const key = await target.evaluate((it) => {
    const place = document.activeElement?.compareDocumentPosition(it) ?? 0
    return place & Node.DOCUMENT_POSITION_PRECEDING ? 'Shift+Tab' : 'Tab'
  })
  await keyTo(target, key)
}

/** Presses a key until something has the focus. */
export async function keyTo(target: Locator, key: string): Promise<void> {
  for (let at = 0; at < 80; at++) {
    if (await target.evaluate((it) => it === document.activeElement)) return
    await target.page().keyboard.press(key)
  }
  throw new Error(`${key} does not lead to ${String(target)}`)
}

/** Goes to a region with F6, and from there to something in it, and presses it. */
export async function pressIn(region: Locator, target: Locator, key = 'Enter'): Promise<void> {
  await region.waitFor()
  const { keyboard } = region.page()
  const isThere = () => region.evaluate((it) => it.contains(document.activeElement))
  for (let at = 0; at < 12 && !(await isThere()); at++) await keyboard.press('F6')
  await tabTo(target)
  await keyboard.press(key)
}

/** Opens the list of the focused picker and chooses by the beginning of a name. */
export async function pick(page: Page, name: string): Promise<void> {
  await untilFocused(page.getByRole('combobox')) // it comes back after the choice before
  await page.keyboard.press('Enter')
  const option = page.getByRole('option', { name: new RegExp(`^${name}`) })
  await option.waitFor()
  for (let at = 0; at < 30; at++) {
    if ((await option.getAttribute('data-highlighted')) !== null) break
    await page.keyboard.press(at < 15 ? 'ArrowUp' : 'ArrowDown')
  }
  await page.keyboard.press('Enter')
  await option.waitFor({ state: 'detached' })
}

/** Goes to the pinned question and answers it with a key. */
export async function answerByKey(page: Page, key = 'a'): Promise<void> {
  const question = page.locator('[data-approval]')
  await question.waitFor()
  await untilUncovered(page)
  await page.keyboard.press('Alt+a')
  await question.and(page.locator(':focus-within')).waitFor()
  await untilArmed(question)
  await page.keyboard.press(key)
}

/** Answers a question with one of its buttons. */
export async function answer(question: Locator, name = 'Allow'): Promise<void> {
  await untilArmed(question)
  await question.getByRole('button', { name, exact: true }).click()
}

/** Saves a screenshot for review, if SHOTS names a folder. */
export async function shot(page: Page, name: string): Promise<void> {
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png` })
}

/** Saves screenshots of one state, if SHOTS names a folder: light, dark, and in a narrower window. */
export async function shots(page: Page, name: string): Promise<void> {
  if (!process.env.SHOTS) return // each change of the window lays the page out anew
  await shot(page, name)
  await page.emulateMedia({ colorScheme: 'dark' })
  await shot(page, `${name}-dark`)
  await page.setViewportSize({ width: 900, height: 800 })
  await shot(page, `${name}-900-dark`)
  await page.emulateMedia({ colorScheme: 'light' })
  await shot(page, `${name}-900`)
  await page.setViewportSize({ width: 1280, height: 800 })
}

const newestFold = (page: Page) => page.locator('button[data-key^="f"]').last()

/** Unfolds the newest turn when it is over. If the user goes into it before that, it stays unfolded. */
export async function unfoldTurn(page: Page): Promise<void> {
  await untilRest(page)
  await newestFold(page).click()
}

/** Does the same with the keyboard. */
export async function unfoldTurnByKey(page: Page): Promise<void> {
  await untilRest(page)
  await pressIn(page.getByRole('log').first(), newestFold(page))
}

/** The panel beside the conversation. */
export const panelOf = (page: Page, name: string) => page.getByRole('complementary', { name })

/** Opens a panel by its icon with the keyboard. */
export async function openPanelByKey(page: Page, name: string) {
  const rail = page.getByRole('navigation', { name: 'Panels' })
  await pressIn(rail, rail.getByRole('button', { name: new RegExp(`^${name}`) }))
  const panel = panelOf(page, name)
  await panel.waitFor()
  return panel
}

/** Opens a panel by its icon. */
export async function openPanel(page: Page, name: string) {
  await page
    .getByRole('navigation', { name: 'Panels' })
    .getByRole('button', { name: new RegExp(`^${name}`) })
    .click()
  const panel = panelOf(page, name)
  await panel.waitFor()
  return panel
}
