import { execFileSync } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { acceptEdits, openPage, pressIn, prompt, shots, untilFocused, untilRest } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

const git = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], {
    cwd: folder,
    stdio: 'pipe',
  })

const lines = (changed: Record<number, string> = {}) =>
  Array.from({ length: 24 }, (_, at) => changed[at] ?? `line ${at}`).join('\n') + '\n'

const write = (changed: Record<number, string>) => ({
  calls: [
    { name: 'Read', input: { file_path: 'list.txt' } },
    { name: 'Write', input: { file_path: 'list.txt', content: lines(changed) } },
  ],
})

// Issue 36, COM-07: a race from the field to the merge, and the loser thrown away.
test('two models race in worktrees, are compared by their tests, and one is merged', async () => {
  const model = (stage.model = await startModel([{ text: 'Ready.' }], {
    'quick-1': [write({ 0: 'the quick way' }), { text: 'Quick is done.' }],
    'careful-1': [write({ 0: 'the careful way', 20: 'its end' }), { text: 'Careful is done.' }],
  }))
  const host = (stage.host = await startHost({
    files: { 'list.txt': lines() },
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  git(host.folder, 'init', '-q', '-b', 'main')
  git(host.folder, 'add', '.')
  git(host.folder, 'commit', '-qm', 'Begin')
  const { page, offences } = await openPage(stage.browser, host.url)
  await acceptEdits(page)
  await prompt(page, 'Are you ready?')
  await page.getByText('Ready.').waitFor()
  await untilRest(page)

  await prompt(page, '/race Write the list')
  const dialog = page.getByRole('dialog', { name: 'Race' })
  await expect.poll(() => dialog.getByLabel('Prompt').inputValue()).toBe('Write the list')
  await dialog.getByRole('button', { name: /^Leave out/ }).click()
  for (const name of ['quick-1', 'careful-1']) {
    await dialog.getByRole('button', { name: 'Add a model' }).click()
    await dialog.getByRole('combobox').fill(name)
    await dialog.getByRole('option', { name: new RegExp(`“${name}”`) }).waitFor()
    await page.keyboard.press('Enter')
    await dialog.getByRole('button', { name: new RegExp(`^Leave out ${name}`) }).waitFor()
  }
  expect(await violations(page)).toEqual([])
  await shots(page, 'race-start')
  await dialog.getByRole('button', { name: 'Start the race' }).click()

  // Both are done, side by side.
  const runs = page.getByRole('dialog', { name: 'Worktrees side by side' })
  await expect.poll(() => runs.getByText('Done', { exact: true }).count()).toBe(2)
  expect(await readFile(join(host.folder, 'list.txt'), 'utf8')).toBe(lines())
  await runs.getByLabel('Command that tests').fill('grep -q careful list.txt')
  await runs.getByRole('button', { name: 'Run in all' }).click()
  await runs.getByText('Passed').waitFor()
  await runs.getByText('Exit code 1').waitFor()
  expect(await violations(page)).toEqual([])
  await shots(page, 'race-runs')

  // What the project did meanwhile stays; the place that both changed is shown.
  await runs.getByRole('button', { name: 'Merge careful-1…' }).click()
  await runs.getByText('Merge careful-1').waitFor()
  await runs.getByText('its end').waitFor()
  expect(await violations(page)).toEqual([])
  await shots(page, 'race-merge')
  const parts = runs.getByRole('checkbox', { name: 'Take this part' })
  await expect.poll(() => parts.count()).toBe(2)
  await parts.first().uncheck()
  await runs.getByRole('button', { name: 'Merge 1 file' }).click()
  await runs.getByText('1 file was merged.').waitFor()
  expect(await readFile(join(host.folder, 'list.txt'), 'utf8')).toBe(lines({ 20: 'its end' }))

  // A hunk of the other one comes as well, by keyboard.
  await pressIn(runs, runs.getByRole('button', { name: 'Merge quick-1…' }))
  await untilFocused(runs.getByRole('button', { name: 'All worktrees' }))
  await pressIn(runs, runs.getByRole('button', { name: 'Merge 1 file' }))
  await runs.getByText('1 file was merged.').waitFor()
  expect(await readFile(join(host.folder, 'list.txt'), 'utf8')).toBe(
    lines({ 0: 'the quick way', 20: 'its end' }),
  )

  // Nobody is thrown away unless it is said what would be lost.
  expect(await readdir(join(host.folder, '.worktrees'))).toHaveLength(2)
  await runs.getByRole('button', { name: 'Throw away quick-1…' }).click()
  const sure = page.getByRole('dialog', { name: /^Throw away .worktrees/ })
  await sure.getByText('It has changes that are not committed.').waitFor()
  await sure.getByRole('button', { name: 'Throw away', exact: true }).click()
  await runs.getByText('quick-1 was thrown away.').waitFor()
  expect(await readdir(join(host.folder, '.worktrees'))).toHaveLength(1)
  await page.keyboard.press('Escape')
  await runs.waitFor({ state: 'detached' })
  expect(offences).toEqual([])
})
