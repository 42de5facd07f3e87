import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { answer, openPage, prompt, shot, untilRest } from './browser'
import { startHost } from './host'
import { modelID, startModel, type Round } from './model'
import { useStage } from './stage'

const stage = useStage()

async function start(rounds: Round[], files = {}) {
  const model = (stage.model = await startModel(rounds))
  const host = (stage.host = await startHost({
    files,
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  return { host, model, ...(await openPage(stage.browser, host.url)) }
}

const question = (page: Page, tool: string) =>
  page.getByRole('region', { name: `Needs you: ${tool}` })

test('after a message, allowed and denied calls and a stopped command, a reload shows everything', async () => {
  const { page, offences, host, model } = await start([
    {
      text: 'I write the note.',
      calls: [{ name: 'Write', input: { file_path: 'note.txt', content: 'remember the milk\n' } }],
    },
    { text: 'Now I delete it.', calls: [{ name: 'Bash', input: { command: 'rm note.txt' } }] },
    { text: 'I leave the note alone, then.' },
    {
      text: 'I wait.',
      calls: [{ name: 'Bash', input: { command: 'echo begun; touch waits; sleep 3600' } }],
    },
  ])
  await page.getByRole('button', { name: `Model: ${modelID}` }).waitFor()
  await prompt(page, 'Keep a note for me')

  await question(page, 'Write').getByText('remember the milk').waitFor()
  await answer(question(page, 'Write'))
  const denied = question(page, 'Bash')
  await answer(denied, 'Deny, say why…')
  await denied.getByRole('textbox').fill('Keep the file, please')
  await shot(page, 'work-feedback')
  await denied.getByRole('textbox').press('Enter')
  await page.getByText('I leave the note alone, then.').waitFor()
  await untilRest(page)
  expect(await readFile(join(host.folder, 'note.txt'), 'utf8')).toBe('remember the milk\n')
  expect(model.heard[2]).toContain('Keep the file, please')

  await prompt(page, 'Wait a minute')
  await answer(question(page, 'Bash'))
  await page.getByRole('button', { name: /details of Bash echo begun/ }).click()
  await page.locator('.terminal').getByText('begun').waitFor()
  await shot(page, 'work-running')
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('Stopped. What was said and done is kept.').waitFor() // long before the hour

  await page.reload()
  await page.getByText('Stopped. What was said and done is kept.').waitFor()
  for (const text of ['Keep a note for me', 'I leave the note alone, then.', 'Wait a minute']) {
    await page.getByText(text, { exact: true }).last().scrollIntoViewIfNeeded()
  }
  await page.getByText('Keep the file, please').waitFor()
  await shot(page, 'work-reloaded')
  expect(offences).toEqual([])
})

test('after the program is killed in a turn, the conversation is there, marked, and can be continued', async () => {
  const first = await start([
    { text: 'I wait.', calls: [{ name: 'Bash', input: { command: 'touch waits; sleep 3600' } }] },
    { text: 'On we go.' },
  ])
  await prompt(first.page, 'Wait a minute')
  await answer(question(first.page, 'Bash'))
  await first.page.getByText('running').first().waitFor()
  await first.host.stop('SIGKILL')
  await first.page.getByText('The connection was lost.').waitFor()
  await shot(first.page, 'work-lost')

  const host = (stage.host = await startHost({
    from: first.host,
    env: { COMPAT_BASE_URL: stage.model!.url },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  await page.getByText('Atelier ended during this turn.').waitFor()
  await shot(page, 'work-crashed')
  await prompt(page, 'Go on')
  await page.getByText('On we go.').waitFor()
  expect(offences).toEqual([])
})

test('unsent text survives a reload and waits while a turn runs', async () => {
  const { page, offences } = await start([
    { calls: [{ name: 'Bash', input: { command: 'touch done' } }] },
    { text: 'Done with it.' },
  ])
  await prompt(page, 'Begin')
  await question(page, 'Bash').waitFor()
  const field = page.getByRole('textbox', { name: 'Message' })
  await field.fill('and afterwards this')
  await page.reload()
  await answer(question(page, 'Bash'))
  await page.getByText('Done with it.').waitFor()
  await expect.poll(() => field.inputValue()).toBe('and afterwards this')
  expect(offences).toEqual([])
})

test('a wrong key is reported in plain words with a link to the settings', async () => {
  const { page } = await start([{ status: 401 }])
  await prompt(page, 'Hello')
  const failure = page.getByRole('alert')
  await failure.getByRole('button', { name: 'Open key settings' }).waitFor()
  await shot(page, 'work-401')
  expect(await failure.innerText()).toMatch(/key/i)
  await failure.getByRole('button', { name: 'Open key settings' }).click()
  await page.getByRole('tab', { name: 'Keys', selected: true }).waitFor()
  await shot(page, 'work-keys')
})

// K-06: the user does not have to type the message again.
test('a button continues a turn that failed or was stopped', async () => {
  const { page, offences } = await start([
    { status: 404 },
    {
      text: 'I have a look.',
      calls: [{ name: 'Bash', input: { command: 'touch waits; sleep 3600' } }],
    },
    { text: 'It is noon.' },
  ])
  await prompt(page, 'What time is it?')
  await page.getByRole('button', { name: 'Try again' }).waitFor()
  await shot(page, 'work-try-again')
  await page.getByRole('button', { name: 'Try again' }).press('Enter')
  await question(page, 'Bash').waitFor()
  await page.getByRole('button', { name: /^Stop/ }).click()
  await page.getByRole('button', { name: 'Continue', exact: true }).waitFor()
  await shot(page, 'work-continue')
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
  await page.getByText('It is noon.', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Continue', exact: true }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Try again' }).waitFor({ state: 'detached' })
  expect(offences).toEqual([])
})
