import { svelte } from '@sveltejs/vite-plugin-svelte'
import { svelteTesting } from '@testing-library/svelte/vite'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  plugins: [svelte(), svelteTesting()],
  // The strict CSP knows no data: fonts, so nothing is inlined; WebKitGTK is
  // the oldest engine that the window meets.
  build: {
    target: 'safari16',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  test: {
    environment: 'jsdom',
    setupFiles: ['src/lib/ui/jsdom.ts'],
    // The contrast test reads the tokens.
    css: { include: [/app\.css/] },
    include: ['src/**/*.test.ts'],
  },
})
