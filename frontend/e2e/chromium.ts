/** Chromium, which each worker starts once. */
import { chromium, type Browser } from 'playwright-core'
import { patience } from './patience'

/**
 * What Chromium leaves out. It heeds the last such list alone, so that this one repeats what
 * Playwright leaves out on Linux. The spare renderer is a process that is started for a page that
 * may be opened later; a journey ends before it is.
 */
const withoutFeatures = [
  'SpareRendererForSitePerProcess',
  // Playwright's
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
]

let started: Promise<Browser> | undefined

/** The Chromium of this worker, which ends with it. Another one is started if it has died or did not start. */
export const launch = (): Promise<Browser> =>
  (started ??= start().catch((error: unknown) => {
    started = undefined
    throw error
  }))

async function start(): Promise<Browser> {
  const browser = await chromium.launch({
    timeout: patience,
    // The engine without the windows, menus and tabs of a desktop browser, which nobody sees.
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell',
    args: [
      '--no-sandbox',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--disable-features=${withoutFeatures.join()}`,
    ],
  })
  browser.on('disconnected', () => (started = undefined))
  return browser
}

/** Closes all pages, with what they stored. */
export async function closePages(browser: Browser): Promise<void> {
  await Promise.all(browser.contexts().map((context) => context.close()))
}
