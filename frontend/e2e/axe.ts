/** What axe finds wrong on a page. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type axeCore from 'axe-core'
import type { Page } from 'playwright-core'

const axe = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The rules that the page breaks in its current state, and where. */
export async function violations(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(await axe)
  // An element that fades in has too little contrast until then.
  await page.waitForFunction(() =>
    document
      .getAnimations()
      .every((it) => it.playState !== 'running' || it.effect?.getTiming().iterations === Infinity),
  )
  return page.evaluate(async () => {
    const { run } = (window as unknown as { axe: typeof axeCore }).axe
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
    // Experimental or only good practice for axe, and so in none of the tags.
    const more = ['label-content-name-mismatch', 'heading-order', 'region']
    const rules = Object.fromEntries(more.map((rule) => [rule, { enabled: true }]))
    const resultTypes: axeCore.resultGroups[] = ['violations'] // of what holds it needs no places
    const { violations } = await run(document, { runOnly: tags, rules, resultTypes })
    // A tooltip or a list that floats is beside the page, not in a part of it.
    const floats = (target: string) => !document.querySelector(target)?.closest('#app')
    return violations.flatMap(({ id, nodes }) =>
      nodes
        .map(({ target }) => target.join(' '))
        .filter((target) => id !== 'region' || !floats(target))
        .map((target) => `${id}: ${target}`),
    )
  })
}
