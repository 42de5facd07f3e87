import { appendFile, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, prompt, shots, untilRest } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()
const secret = 'ghp_aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9'
const line = (entry: object) => `${JSON.stringify(entry)}\n`

const foreign =
  line({
    ...{ type: 'user', uuid: '1', sessionId: 's', cwd: '/elsewhere' },
    ...{ timestamp: '2026-01-02T03:04:05Z', message: { role: 'user', content: 'Name a river.' } },
  }) +
  line({
    ...{ type: 'assistant', uuid: '2', parentUuid: '1', timestamp: '2026-01-02T03:04:06Z' },
    message: { id: 'm', model: 'claude-x', content: [{ type: 'text', text: `Rhine, ${secret}` }] },
  })

test('a transcript is imported, continued, exported without its secret and imported back', async () => {
  const model = (stage.model = await startModel([{ text: 'The Danube.' }]))
  const home = await mkdtemp(join(tmpdir(), 'atelier-user-'))
  await mkdir(join(home, '.claude/projects/-elsewhere'), { recursive: true })
  await writeFile(join(home, '.claude/projects/-elsewhere/s.jsonl'), foreign)
  const host = (stage.host = await startHost({
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key', HOME: home },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)

  await page.getByRole('button', { name: 'Import…' }).click()
  const imports = page.getByRole('dialog', { name: 'Import transcripts' })
  await imports.getByText('Name a river.').waitFor()
  expect(await violations(page)).toEqual([])
  await shots(page, 'import')
  await imports.getByRole('list').getByRole('button', { name: 'Import' }).click()
  await page.getByText('Rhine').waitFor()
  await prompt(page, 'Another one?')
  await page.getByText('The Danube.').waitFor()
  await untilRest(page)

  await page.getByRole('button', { name: 'Menu of the open session' }).click()
  await page.getByRole('menuitem', { name: 'Export…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Export the session' })
  await dialog.getByText('ghp_••').first().waitFor()
  expect(await dialog.getByText(secret).count()).toBe(0)
  expect(await violations(page)).toEqual([])
  await shots(page, 'export')
  await dialog.getByRole('radio', { name: /^JSON/ }).check()
  const download = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Save' }).click()
  const path = join(home, 'saved.json')
  await (await download).saveAs(path)
  const saved = await readFile(path, 'utf8')
  expect(saved).not.toContain(secret)
  expect(saved).toContain('Rhine, [redacted]')

  await page.getByRole('button', { name: 'Import…' }).click()
  await imports.getByLabel('Path of a file').fill(path)
  await imports.locator('form').getByRole('button', { name: 'Import' }).click()
  await page.getByText('Rhine, [redacted]').waitFor()
  await page.getByText('The Danube.').waitFor()
  expect(offences).toEqual([])
})

// LIVE-01, LIVE-02: a session of another program is found by its words, and watched while it happens.
test('a session of another program is watched as it happens, and searched', async () => {
  const home = await mkdtemp(join(tmpdir(), 'atelier-user-'))
  const store = join(home, '.claude/projects/-elsewhere')
  await mkdir(store, { recursive: true })
  await writeFile(join(store, 's.jsonl'), foreign)
  const host = (stage.host = await startHost({ env: { HOME: home } }))
  const { page, offences } = await openPage(stage.browser, host.url)
  await page.getByRole('button', { name: 'Import…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Import transcripts' })
  await dialog.getByLabel('Words in sessions of other programs').fill('rhine')
  await dialog.getByRole('button', { name: 'Find', exact: true }).click()
  await dialog.getByRole('button', { name: /Rhine, .*Claude Code/ }).waitFor()
  expect(await violations(page)).toEqual([])
  await shots(page, 'others')
  await dialog.getByRole('button', { name: /Rhine, .*Claude Code/ }).click()
  const log = dialog.getByRole('log')
  await log.getByText('Rhine').waitFor()
  const next = { type: 'user', uuid: '3', parentUuid: '2', timestamp: '2026-01-02T03:05:05Z' }
  await appendFile(
    join(store, 's.jsonl'),
    line({ ...next, message: { role: 'user', content: 'And a lake?' } }),
  )
  await log.getByText('And a lake?').waitFor()
  expect(await violations(page)).toEqual([])
  await shots(page, 'others-watched')
  await dialog.getByRole('button', { name: 'All sessions' }).click()
  await dialog.getByRole('button', { name: 'Watch Name a river.' }).waitFor()
  expect(offences).toEqual([])
})
