import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build, type Rolldown } from 'vite'
import { describe, expect, test } from 'vitest'

const folder = fileURLToPath(new URL('src/lib/model/', import.meta.url))
const files = readdirSync(folder).filter((name) => !name.endsWith('.test.ts'))

// The bundle is built without the Svelte plugin and runs without a document.
describe('the model', () => {
  test.each(files)('%s runs on its own', async (name) => {
    await import(folder + name)
  })

  test('bundles no other code', async () => {
    const entry = files.map((name) => folder + name)
    const options = { write: false, minify: false, lib: { entry, formats: ['es' as const] } }
    const built = await build({ configFile: false, logLevel: 'error', build: options })
    const chunks = (built as Rolldown.RolldownOutput[]).flatMap(({ output }) => output)
    const parts = chunks.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []))
    expect(parts).toContain(`${folder}reducer.ts`)
    expect(parts.filter((part) => !part.startsWith(folder))).toEqual([])
  })
})
