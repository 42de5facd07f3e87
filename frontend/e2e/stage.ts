/** The browser, host and model of a journey, which are cleaned up after it. */
import type { Browser } from 'playwright-core'
import { afterEach, beforeEach } from 'vitest'
import { closePages, launch } from './chromium'
import { discard, type Host } from './host'
import type { Model } from './model'

export type Stage = {
  browser: Browser
  /** Set by the journey, like the model, so that it is stopped afterwards. */
  host?: Host
  model?: Model
}

/** A stage for the journeys of a file. Each journey starts with an empty one. */
export function useStage(): Stage {
  const stage = {} as Stage
  beforeEach(async () => {
    stage.browser = await launch()
  })
  afterEach(async ({ task }) => {
    const { browser, host, model } = stage
    if (task.result?.state === 'fail') await tell(browser)
    await closePages(browser)
    await host?.stop()
    model?.stop()
    if (host) await discard(host)
    stage.host = stage.model = undefined
  })
  return stage
}

/** Prints what the pages of a failed journey showed. */
async function tell(browser: Browser): Promise<void> {
  for (const page of browser.contexts().flatMap((context) => context.pages())) {
    const shown = page.locator('body').ariaSnapshot({ timeout: 5_000 })
    console.error(await shown.catch((error: unknown) => String(error)))
  }
}
