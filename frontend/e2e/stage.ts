/** What a journey runs on: put up before it, taken down after it. */
import type { Browser } from 'playwright-core'
import { afterEach, beforeEach } from 'vitest'
import { launch } from './browser'
import { discard, type Host } from './host'
import type { Model } from './model'

export type Stage = {
  browser: Browser
  /** Set by the journey, as the model is, to be stopped after it. */
  host?: Host
  model?: Model
}

/** A stage for the journeys of a file, each of which begins with an empty one. */
export function useStage(): Stage {
  const stage = {} as Stage
  beforeEach(async () => {
    stage.browser = await launch()
  })
  afterEach(async () => {
    const { browser, host, model } = stage
    await browser.close()
    await host?.stop()
    model?.stop()
    if (host) await discard(host)
    stage.host = stage.model = undefined
  })
  return stage
}
