/** Opens the page in Debian's Chromium and records everything that must not happen. */
import {
  chromium,
  type Browser,
  type BrowserContextOptions,
  type Locator,
  type Page,
} from 'playwright-core'
import { inject } from 'vitest'

/** Connects to the Chromium of the run. A close ends the pages of the connection. */
export const launch = (): Promise<Browser> => chromium.connect(inject('chromium'))

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
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
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
  await page.goto(url)
  return { page, offences }
}

/** Types a message and sends it with the keyboard. */
export async function prompt(page: Page, text: string): Promise<void> {
  const field = page.getByRole('textbox', { name: 'Message', exact: true })
  await field.fill(text)
  await field.press('Enter')
}

/** Waits until a question takes answers. */
export async function untilArmed(question: Locator): Promise<void> {
  await question.and(question.page().locator('[data-armed=true]')).waitFor()
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

/** Saves screenshots of one state: light, dark, and in a narrower window. */
export async function shots(page: Page, name: string): Promise<void> {
  await shot(page, name)
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
  await shot(page, `${name}-dark`)
  await page.setViewportSize({ width: 900, height: 800 })
  await shot(page, `${name}-900-dark`)
  await page.emulateMedia({ colorScheme: 'light' })
  await shot(page, `${name}-900`)
  await page.setViewportSize({ width: 1280, height: 800 })
}

/** Unfolds the newest finished turn. */
export const unfoldTurn = (page: Page) => page.locator('button[data-key^="f"]').last().click()

/** The panel beside the conversation. */
export const panelOf = (page: Page, name: string) => page.getByRole('complementary', { name })

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
