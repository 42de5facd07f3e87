import { defineConfig } from 'vitest/config'

// The journeys drive Debian's Chromium against the real binary. Two files run
// at the same time, because a journey waits for half of its time.
export default defineConfig({
  test: {
    environment: 'node',
    include: ['e2e/**/*.e2e.ts'],
    globalSetup: 'e2e/chromium.ts',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    isolate: false, // each worker loads Playwright once
  },
})
