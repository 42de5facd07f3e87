import { defineConfig } from 'vite'
import { pack } from './vite.pack.ts'

// The script of diagram.html: one classic file, because a module could not be loaded into a document
// whose origin is opaque.
export default defineConfig({
  publicDir: false,
  plugins: [pack()],
  build: {
    target: 'safari16',
    emptyOutDir: false,
    modulePreload: false,
    chunkSizeWarningLimit: 5000,
    rolldownOptions: {
      input: 'src/diagram.ts',
      output: { format: 'iife', entryFileNames: 'diagram.js', codeSplitting: false },
      // Mermaid's parts are loaded by name elsewhere; here they are in the file.
      checks: { pluginTimings: false, emptyImportMeta: false },
    },
  },
})
