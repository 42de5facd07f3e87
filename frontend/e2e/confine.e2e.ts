import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { answerByKey, openPage, prompt, shot, shots, tabTo } from './browser'
import { startHost } from './host'
import { modelID, startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

test('commands are confined at the press of a switch, and one leaves only when asked for, by keyboard', async () => {
  const bash = (command: string, more = {}) => ({
    calls: [{ name: 'Bash', input: { command, ...more } }],
  })
  const model = (stage.model = await startModel([
    bash(
      'echo inside >made.txt && cat made.txt && mkdir -p $XDG_CACHE_HOME && echo cached >$XDG_CACHE_HOME/one',
    ),
    bash('echo outside >.vscode'),
    bash('echo outside >.vscode', { unconfined: true }),
    { text: 'The file is there.' },
  ]))
  const host = (stage.host = await startHost({
    files: { 'shop.ts': 'export {}\n' },
    models: [{ id: modelID, provider: 'compat', display_name: 'Scripted' }],
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await page.keyboard.press('Control+,')
  const settings = page.getByRole('dialog', { name: 'Settings' })
  const field = settings.getByRole('combobox', { name: 'Search the settings' })
  await tabTo(field)
  await page.keyboard.type('sandbox')
  await settings.getByRole('option').first().waitFor()
  await page.keyboard.press('Enter')
  const level = settings.getByRole('status').filter({ hasText: 'This' })
  await level.waitFor()
  if (!(await level.textContent())?.includes('Fully supported')) return // the machine cannot confine
  await tabTo(settings.getByRole('switch', { name: 'Confine commands' }))
  await page.keyboard.press('Space')
  await settings.getByText('Commands reach no network.').waitFor()
  await settings.getByText('There are none.').waitFor()
  await tabTo(settings.getByRole('switch', { name: 'Run confined commands without asking' }))
  await page.keyboard.press('Space')
  await shots(page, 'confine-settings')
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await settings.waitFor({ state: 'detached' })

  await prompt(page, 'Make the file')
  const question = page.getByRole('region', { name: 'Needs you: Bash' })
  await question.getByText('asks to run without confinement').waitFor()
  await page.getByText('Allowed because it ran confined.').first().waitFor()
  await shots(page, 'confine-question')
  expect(await violations(page)).toEqual([])
  expect(await readFile(join(host.folder, 'made.txt'), 'utf8')).toBe('inside\n')
  await expect(access(join(host.folder, '.vscode'))).rejects.toThrow()
  await answerByKey(page)
  await page.getByText('The file is there.').waitFor()
  await shot(page, 'confine-done')
  expect(await readFile(join(host.folder, '.vscode'), 'utf8')).toBe('outside\n')

  await page.keyboard.press('Control+,')
  await tabTo(field)
  await page.keyboard.type('caches of confined')
  await settings.getByRole('option', { name: 'Caches of confined commands' }).waitFor()
  await page.keyboard.press('Enter')
  await settings.getByText('They take 7 B in all projects.').waitFor()
  await shots(page, 'confine-caches')
  expect(await violations(page)).toEqual([])
  await tabTo(settings.getByRole('button', { name: 'Delete caches' }))
  await page.keyboard.press('Enter')
  await settings.getByText('There are none.').waitFor()
  expect(offences).toEqual([])
})
