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
  },
  server: { proxy: { '/ws': { target: 'http://127.0.0.1:4180', ws: true } } },
  test: {
    environment: 'happy-dom',
    include: ['src/**/*.test.ts'],
  },
})
