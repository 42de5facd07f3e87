import { execFileSync } from 'node:child_process'
import { chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { answerByKey, openPage, pick, pressIn, prompt, shot, shots, tabTo } from './browser'
import { startHost } from './host'
import { modelID, startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

/** The name of what has the focus. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const it = document.activeElement as HTMLInputElement
    return it.getAttribute('aria-label') ?? it.labels?.[0]?.textContent ?? it.textContent ?? ''
  })
const isFocused = (page: Page, name: RegExp) =>
  expect.poll(async () => (await focused(page)).trim()).toMatch(name)

const isProperty = (page: Page, name: string) =>
  expect.poll(() =>
    page.evaluate((of) => document.documentElement.style.getPropertyValue(of), name),
  )

/** Opens Settings and goes to what a person calls by these words. */
async function goTo(page: Page, words: string) {
  const settings = page.getByRole('dialog', { name: 'Settings' })
  if ((await settings.count()) === 0) await page.keyboard.press('Control+,')
  const field = settings.getByRole('combobox', { name: 'Search the settings' })
  await tabTo(field)
  await page.keyboard.type(words)
  await settings.getByRole('option').first().waitFor()
  await page.keyboard.press('Enter')
  return settings
}

async function broken(page: Page): Promise<string[]> {
  const found: string[] = []
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    found.push(...(await violations(page)))
  }
  return found
}

/** The panes and rows that are wider than they have room for. */
const overflowing = (page: Page) =>
  page.evaluate(() =>
    ['#app', 'main', '[data-composer]', '.dock', '.diff', 'aside', 'nav'].filter((selector) =>
      [...document.querySelectorAll(selector)].some((it) => it.scrollWidth > it.clientWidth + 1),
    ),
  )

test('fonts and sizes are chosen, applied at once and kept, by keyboard only', async () => {
  const model = (stage.model = await startModel([
    { calls: [{ name: 'Read', input: { file_path: 'shop.ts' } }] },
    {
      calls: [
        {
          name: 'Edit',
          input: {
            file_path: 'shop.ts',
            old_string: 'const total = 1',
            new_string: 'const total = prices.filter((price) => price !== 0).length',
          },
        },
      ],
    },
    { text: 'The total of `shop.ts` counts **prices**:\n\n```ts\nconst total = 3 // 0O1lI\n```\n' },
  ]))
  const host = (stage.host = await startHost({
    files: { 'shop.ts': 'const prices = [1]\nconst total = 1\nexport { total }\n' },
    models: [{ id: modelID, provider: 'compat', display_name: 'Scripted' }],
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const installed = execFileSync('fc-list', [':', 'family'], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.split(',')[0]!.trim())
    .find((family) => /^[\w -]+$/.test(family) && /sans/i.test(family))!
  const { page, offences } = await openPage(stage.browser, host.url)
  await prompt(page, 'Count the prices')
  await page.getByRole('region', { name: 'Needs you: Edit' }).waitFor()

  const settings = await goTo(page, 'interface font')
  await isFocused(page, /^Interface font: Inter$/)
  await pick(page, 'Another font…')
  await isFocused(page, /^Name of an installed font$/)
  await page.keyboard.type('No Such Font')
  await settings.getByText('This page does not find a font of this name.').waitFor()
  await page.keyboard.press('Enter')
  await isProperty(page, '--sans-first').toBe("'Inter Variable'")
  await page.keyboard.press('Control+a')
  await page.keyboard.type('x"; color: red')
  await settings.getByText('A font’s name has letters').waitFor()
  await page.keyboard.press('Control+a')
  await page.keyboard.type(installed)
  await shot(page, 'settings-font-name')
  await page.keyboard.press('Enter')
  await isFocused(page, new RegExp(`^Interface font: ${installed}$`))
  await isProperty(page, '--sans-first').toBe(`"${installed}", 'Inter Variable'`)
  await page.reload()
  await page.getByRole('region', { name: 'Needs you: Edit' }).waitFor()
  await isProperty(page, '--sans-first').toContain(installed)

  for (const [face, code] of [
    ['11 px', '10 px'],
    ['18 px', '20 px'],
  ] as const) {
    await goTo(page, 'interface font')
    await isFocused(page, /^Interface font:/)
    await pick(page, 'Inter')
    await page.keyboard.press('Tab')
    await isFocused(page, /^Interface font, size/)
    await pick(page, face)
    await goTo(page, 'code font')
    await isFocused(page, /^Code font:/)
    await page.keyboard.press('Tab')
    await pick(page, code)
    await isProperty(page, '--text-sm').toBe(face.replace(' ', ''))
    await isProperty(page, '--text-code').toBe(code.replace(' ', ''))
    await shots(page, `settings-fonts-${code.replace(' ', '')}`)
    await page.keyboard.press('Escape')
    await settings.waitFor({ state: 'detached' })
    await shots(page, `fonts-question-${code.replace(' ', '')}`)
    await expect.poll(() => overflowing(page)).toEqual([])
  }
  expect(await violations(page)).toEqual([])
  await answerByKey(page)
  await page.getByText('counts prices').waitFor()
  const panel = page.getByRole('complementary', { name: 'Changes' })
  await pressIn(panel, panel.getByRole('button', { name: 'modified shop.ts' }))
  await panel.locator('.diff').waitFor()
  await expect.poll(() => overflowing(page)).toEqual([])
  await shots(page, 'fonts-work-20px')

  await goTo(page, 'code font')
  await isFocused(page, /^Code font:/)
  for (const name of [/^Code font, size/, /^Use the default fonts/]) {
    await page.keyboard.press('Tab')
    await isFocused(page, name)
  }
  await page.keyboard.press('Enter')
  await isFocused(page, /^Interface font: Inter$/)
  await isProperty(page, '--text-sm').toBe('13px')
  await isProperty(page, '--text-code').toBe('12px')
  expect(offences).toEqual([])
})

test('a tool is switched off by keyboard, and stays off', async () => {
  const host = (stage.host = await startHost({}))
  const { page, offences } = await openPage(stage.browser, host.url)
  await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor()
  const settings = await goTo(page, 'Specialist')
  const code = settings.getByRole('switch', { name: 'LSP' })
  await tabTo(code)
  await page.keyboard.press('Space')
  await expect.poll(() => code.isChecked()).toBe(false)
  expect(await broken(page)).toEqual([])
  await shots(page, 'settings-tools')
  await page.reload()
  await goTo(page, 'Specialist')
  await expect.poll(() => code.isChecked()).toBe(false)
  expect(await settings.getByRole('switch', { name: 'CronList' }).isChecked()).toBe(true)
  await goTo(page, 'Shorten long results')
  await shots(page, 'settings-shorten')
  expect(offences).toEqual([])
})

test('a setting is found by what a person calls it, by keyboard only', async () => {
  const host = (stage.host = await startHost({}))
  const { page, offences } = await openPage(stage.browser, host.url)
  await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor()
  await page.keyboard.press('Control+,')
  const settings = page.getByRole('dialog', { name: 'Settings' })
  await isFocused(page, /^Search the settings$/)
  await page.keyboard.type('zebra')
  await settings.getByText('No setting matches “zebra”.').waitFor()
  await shots(page, 'settings-search-none')
  await page.keyboard.press('Escape')
  await settings.getByRole('tab', { name: 'Keys' }).waitFor()
  await isFocused(page, /^Search the settings$/)

  await page.keyboard.type('price')
  const budget = settings.getByRole('option', { name: /^Stop each new session at.*Models$/ })
  await budget.waitFor()
  expect(await broken(page)).toEqual([])
  await shots(page, 'settings-search')
  while ((await budget.getAttribute('aria-selected')) !== 'true') {
    await page.keyboard.press('ArrowDown')
  }
  await page.keyboard.press('Enter')
  await isFocused(page, /^Stop each new session at$/)
  await page.keyboard.type('2')
  await page.keyboard.press('Enter')
  await settings.getByRole('button', { name: 'Remove' }).waitFor()

  // A folded setting is unfolded.
  await goTo(page, 'deepseek')
  await isFocused(page, /^Set key$/)
  const row = page.locator('[data-setting]:focus-within').last()
  await expect.poll(() => row.getAttribute('data-setting')).toBe('key_deepseek')

  await goTo(page, '中文')
  await isFocused(page, /System/)
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight')
  const chinese = page.getByRole('dialog', { name: '设置' })
  await tabTo(chinese.getByRole('combobox', { name: '搜索设置' }))
  await page.keyboard.type('dark')
  await chinese.getByRole('option', { name: '主题' }).waitFor()
  await shots(page, 'settings-search-zh')
  await page.keyboard.press('Escape')
  await shots(page, 'settings-zh')
  await page.keyboard.press('Escape')
  await chinese.waitFor({ state: 'detached' })
  expect(offences).toEqual([])
})

test('the editor is chosen, tested and changed, by keyboard only', async () => {
  const bin = await mkdtemp(join(tmpdir(), 'atelier-e2e-bin-'))
  const told = join(bin, 'told')
  for (const name of ['kate', 'my editor']) {
    await writeFile(join(bin, name), `#!/bin/sh\nprintf '%s|' "\${0##*/}" "$@" >"${told}"\n`)
    await chmod(join(bin, name), 0o755)
  }
  const host = (stage.host = await startHost({
    files: { 'README.md': '# Shop\n' },
    env: { PATH: `${bin}:${process.env.PATH}` },
  }))
  const readme = join(host.folder, 'README.md')
  const isTold = (want: string) =>
    expect.poll(() => readFile(told, 'utf8').catch(() => '')).toBe(want)
  const { page, offences } = await openPage(stage.browser, host.url)
  await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor()

  const settings = await goTo(page, 'vscode')
  await isFocused(page, /^Editor: Automatic$/)
  await pick(page, 'Kate')
  await isFocused(page, /^Editor: Kate$/)
  await page.keyboard.press('Tab')
  await isFocused(page, /^Open a file to test it$/)
  await page.keyboard.press('Enter')
  await settings.getByText('Kate was asked to open README.md.').waitFor()
  await isTold(`kate|--line|1|${readme}|`)

  await page.keyboard.press('Shift+Tab')
  await pick(page, 'A command of your own…')
  await isFocused(page, /^Command$/)
  await page.keyboard.type('absent-editor {file}')
  await page.keyboard.press('Enter')
  await settings.getByText('The editor absent-editor was not found.').waitFor()
  expect(await broken(page)).toEqual([])
  await shots(page, 'settings-editor')
  const field = settings.getByRole('textbox', { name: 'Command' })
  await tabTo(field)
  await page.keyboard.press('Control+a')
  await page.keyboard.type(`'${bin}/my editor' "{file}" +{line} $(id)`)
  await page.keyboard.press('Enter')
  await isFocused(page, /^Editor: Your own command$/)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await settings.getByText('my editor was asked to open README.md.').waitFor()
  await isTold(`my editor|${readme}|+1|$(id)|`)
  expect(offences).toEqual([])
})
