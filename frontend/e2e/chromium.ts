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
    ],
  })
  project.provide('chromium', server.wsEndpoint())
  return () => server.close()
}
