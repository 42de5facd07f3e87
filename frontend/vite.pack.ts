import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Plugin } from 'vite'

/**
 * Stores scripts and styles compressed, under their names with ".gz": the programs embed them so, and
 * embed.go says how they are read. What is small or is compressed already, such as fonts, stays as it is.
 */
export function pack(): Plugin {
  return {
    name: 'pack',
    apply: 'build',
    async writeBundle({ dir }, bundle) {
      for (const name of Object.keys(bundle)) {
        if (!/\.(js|css)$/.test(name)) continue
        const file = join(dir ?? '', name)
        await writeFile(`${file}.gz`, gzipSync(await readFile(file), { level: 9 }))
        await rm(file)
      }
    },
  }
}
