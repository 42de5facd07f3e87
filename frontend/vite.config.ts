import { svelte } from '@sveltejs/vite-plugin-svelte'
import { svelteTesting } from '@testing-library/svelte/vite'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'
import './svelte.config.js' // which vitest then compares as well
import { pack } from './vite.pack.ts'

/** A machine that builds and tests at the same time has paused for 40 seconds. */
const testTimeout = 120_000

/** A module that lists files is compiled in each run: its own text stays the same when a file is added. */
const listsAnew: Plugin = {
  name: 'lists-anew',
  configureVitest: ({ experimental_defineCacheKeyGenerator: define }) =>
    define(({ sourceCode }) => (sourceCode.includes('import.meta.glob') ? false : undefined)),
}

export default defineConfig({
  plugins: [svelte(), svelteTesting({ autoCleanup: false }), pack(), listsAnew],
  // The strict CSP allows no data: fonts, so nothing is inlined; WebKitGTK is
  // the oldest engine that the window meets.
  build: {
    target: 'safari16',
    assetsInlineLimit: 0,
    // One sheet of styles: a part that is loaded later cannot flash without its own, and needs one file.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  test: {
    // The contrast test reads the colours.
    css: { include: [/app\.css/] },
    // The files of a worker share their modules and a document: most of the time went into loading
    // both anew. A file leaves nothing behind that another one could meet.
    isolate: false,
    // A run keeps what it has compiled, and the next one compiles only what has changed.
    experimental: { fsModuleCache: true },
    testTimeout,
    projects: [
      // By itself: without Svelte and without a document.
      {
        test: {
          name: 'model',
          environment: 'node',
          isolate: false,
          testTimeout,
          include: ['rooms.test.ts', 'src/lib/model/**/*.test.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'page',
          environment: 'jsdom',
          setupFiles: ['src/lib/ui/jsdom.ts', 'src/lib/i18n/bothLanguages.ts'],
          include: ['src/**/*.test.ts'],
          exclude: ['src/lib/model/**'],
        },
      },
    ],
  },
})
