/** Starts one Chromium for all journeys of a run. */
import { chromium } from 'playwright-core'
import type { TestProject } from 'vitest/node'
import { patience } from './patience'

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of the Chromium that the journeys share. */
    chromium: string
  }
}

/**
 * What Chromium leaves out. It heeds the last such list alone, so that this one repeats what
 * Playwright leaves out on Linux. With its own list each window would also load the two pages of
 * the address bar's suggestions, which nobody sees, in a process of their own. They took over a
 * third of the processor time that it takes to open a page of ours. The spare renderer is a process
 * that each window starts for a page it may open later; a journey ends before it does.
 */
const withoutFeatures = [
  'SpareRendererForSitePerProcess',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxPopup',
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

export default async function setup(project: TestProject) {
  const server = await chromium.launchServer({
    timeout: patience,
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
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
  project.provide('chromium', server.wsEndpoint())
  return () => server.close()
}
