import { defineConfig } from 'vitest/config'

// The journeys drive Debian's Chromium against the real binary, one at a time:
// they share the machine's two cores with it.
export default defineConfig({
  test: {
    environment: 'node',
    include: ['e2e/**/*.e2e.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    fileParallelism: false,
  },
})
