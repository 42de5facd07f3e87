import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { openPage, prompt, shots } from './browser'
import { startHost } from './host'
import { useStage } from './stage'

const stage = useStage()

const program = resolve(process.env.ATELIER_BIN ?? '../build/bin/atelier-headless')

// The agent is Atelier itself, with a home of its own, so the protocol is spoken in both directions.
test('an external agent is found out about, answers a session and asks in it', async () => {
  const host = (stage.host = await startHost({ files: { 'README.md': '# Shop\n' } }))
  const elsewhere = await mkdtemp(join(tmpdir(), 'atelier-e2e-agent-'))
  const { page, offences } = await openPage(stage.browser, host.url)
  await page.getByRole('button', { name: 'Model: Demo script' }).waitFor()
  await page.keyboard.press('Control+,')
  const settings = page.getByRole('dialog', { name: 'Settings' })
  const panel = settings.getByRole('region', { name: 'External agents' })
  await panel.getByRole('button', { name: 'Add agent' }).click()
  await panel.getByLabel('Name', { exact: true }).fill('Second Atelier')
  await panel.getByLabel('Command', { exact: true }).fill("'")
  await panel.getByRole('button', { name: 'Trust and save' }).click()
  await panel.getByRole('alert').waitFor()
  await panel
    .getByLabel('Command', { exact: true })
    .fill(`env ATELIER_HOME=${elsewhere} HOME=${elsewhere} ${program} acp`)
  await panel.getByText('outside the sandbox').scrollIntoViewIfNeeded()
  await shots(page, 'external-form')
  await panel.getByRole('button', { name: 'Trust and save' }).click()
  await panel.getByRole('button', { name: 'Try it' }).click()
  await panel.getByText(/Atelier .* answered/).waitFor()
  await shots(page, 'external-list')
  await page.keyboard.press('Escape')
  await settings.waitFor({ state: 'detached' })

  await page.getByRole('button', { name: /^Model: / }).click()
  await page
    .getByRole('option', { name: /Second Atelier/ })
    .first()
    .click()
  await prompt(page, 'Show me around')
  await page.getByText('Welcome to Atelier').first().waitFor()
  await page
    .getByRole('button', { name: /^Allow/ })
    .first()
    .waitFor()
  await shots(page, 'external-question')
  await page
    .getByRole('button', { name: /^Allow/ })
    .first()
    .click()
  await expect
    .poll(() => readFile(join(host.folder, 'atelier-tour/hello.sh'), 'utf8').catch(() => ''), {
      timeout: 20_000,
    })
    .not.toBe('')
  await page
    .getByRole('button', { name: /^Allow/ })
    .first()
    .waitFor()
  await shots(page, 'external-step')
  expect(offences).toEqual([])
})
