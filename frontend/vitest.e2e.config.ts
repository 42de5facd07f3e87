import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { patience } from './e2e/patience'

// The journeys drive Debian's Chromium against the real binary. More files than
// cores run at the same time, because a journey waits for half of its time.
export default defineConfig({
  test: {
    environment: 'node',
    include: ['e2e/**/*.e2e.ts'],
    testTimeout: 5 * patience,
    hookTimeout: 3 * patience,
    expect: { poll: { timeout: patience } },
    retry: 1, // scripts/test.sh says how many needed it
    maxWorkers: availableParallelism() + 1,
    experimental: { fsModuleCache: true },
    isolate: false, // each worker loads Playwright, and starts Chromium, once
  },
})
