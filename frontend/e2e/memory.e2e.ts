import { expect, test } from 'vitest'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { openPage, panelOf, prompt, shots, untilRest } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

// COM-23: the user reads and edits what agents are told in every session, with what it costs, and the next
// message takes the change along.
test('a person edits what is remembered', async () => {
  const model = (stage.model = await startModel([{ text: 'Noted.' }, { text: 'Yes.' }]))
  const host = (stage.host = await startHost({
    files: {
      'AGENTS.md': 'Use tabs.\n\n@docs/style.md\n\n@docs/gone.md\n',
      'docs/style.md': 'Keep lines short.\n',
      'long.md': 'The staging database is copied every night. '.repeat(600),
    },
    models: [{ provider: 'compat', id: 'short-1', display_name: 'Short One' }],
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  const panel = panelOf(page, 'Memory')
  const row = (text: string | RegExp) => panel.getByRole('listitem').filter({ hasText: text })
  await page.getByRole('button', { name: 'Memory', exact: true }).click()
  await row('docs/style.md')
    .getByText(/imported by AGENTS\.md/)
    .waitFor()
  await row('docs/gone.md')
    .getByText(/does not exist/)
    .waitFor()
  await prompt(page, 'Hello')
  await page.getByText('Noted.').first().waitFor()
  await untilRest(page)

  await row(/^\.agent\/memory\.md/)
    .getByRole('button', { name: /^Write/ })
    .click()
  const text = panel.getByRole('textbox', { name: /^Text of/ })
  await text.fill('Deploys are on Mondays.')
  await shots(page, 'memory-edit')
  await panel.getByRole('button', { name: 'Save' }).click()
  await row(/^\.agent\/memory\.md/)
    .getByText(/tokens/)
    .waitFor()
  expect(await readFile(path.join(host.folder, '.agent/memory.md'), 'utf8')).toBe(
    'Deploys are on Mondays.',
  )

  await panel.getByText('Choose files').click()
  await panel.getByRole('textbox', { name: 'Files, one a line' }).fill('.agent/memory.md\nlong.md')
  await panel.getByRole('spinbutton').fill('500')
  await panel.getByRole('button', { name: 'Apply' }).click()
  await row('long.md')
    .getByText(/cut: .* bytes are sent/)
    .waitFor()
  await shots(page, 'memory-panel')
  await prompt(page, 'When do we deploy?')
  await expect.poll(() => model.heard[1]).toContain('When do we deploy?')
  expect(model.heard[1]).toContain('Deploys are on Mondays.')
  expect(model.heard[1]).toContain('[Memory truncated at 500 tokens]')
  expect(offences).toEqual([])
})

test('what is remembered is shown in Chinese', async () => {
  const host = (stage.host = await startHost({
    files: { 'CLAUDE.md': '@docs/gone.md', '.agent/memory.md': '数据库每晚备份。'.repeat(900) },
  }))
  const { page, offences } = await openPage(stage.browser, host.url, { locale: 'zh-CN' })
  await page.getByRole('button', { name: '记忆', exact: true }).click()
  await page.getByText(/已截断：/).waitFor()
  await page.getByText('选择文件').click()
  await shots(page, 'memory-chinese')
  expect(offences).toEqual([])
})
