import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openPage, prompt, shot, shots, tabTo, untilFocused, untilRest } from './browser'
import { startHost } from './host'
import { startModel, type Round } from './model'
import { useStage } from './stage'

const stage = useStage()

/** A free local model whose conversations are compacted from 10,000 tokens on. */
const models = [
  { provider: 'compat', id: 'short-1', display_name: 'Short One', context_window: 20_000 },
]

async function start(rounds: Round[]) {
  const model = (stage.model = await startModel(rounds))
  const host = (stage.host = await startHost({
    models,
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  return { model, host, ...(await openPage(stage.browser, host.url)) }
}

const usage = (input: number) => ({ input, cached: 0, output: 10 })
const answer = 'The login is checked in `auth/login.go`. '.repeat(1000)
const summary =
  '## Goal\nMend the login.\n\n## Known\n- `auth/login.go` checks it\n- `go test ./auth` runs its tests'

/** Waits for the notice of a finished compaction. */
const compacted = (page: Page, n = 0) =>
  page.getByRole('button', { name: /^Compacted from .* to about .* tokens/ }).nth(n)

// K-08, COM-18, COM-93: a long conversation is compacted before the next request, automatically or when
// the user asks for it, and all of it can still be read.
test('a long conversation is compacted', async () => {
  let release = () => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  const { page, model, host, offences } = await start([
    { text: answer, usage: usage(15990) },
    { reasoning: 'What matters?', rest: gate, text: summary, usage: usage(9000) },
    { text: 'It is mended.', usage: usage(900) },
    { text: 'All of it in a sentence.', usage: usage(900) },
    { text: 'Still mended.', usage: usage(500) },
  ])
  await prompt(page, 'Mend the login')
  const meter = page.getByRole('button', {
    name: /^What fills the context: .* tokens in context/,
  })
  await meter.getByText('80%').waitFor()
  await untilRest(page)
  await prompt(page, 'Go on')
  await page.getByText('The older part of the conversation is being summarised…').waitFor()
  await shot(page, 'compact-running')
  release()
  await page.getByText('It is mended.').waitFor()
  await untilRest(page)
  expect(model.heard[1]).toContain('auth/login.go')
  await compacted(page).click()
  await page.getByRole('heading', { name: 'Known' }).waitFor()
  await meter.getByText('5%').waitFor()
  await shots(page, 'compact-done')

  // Manually, with the keyboard alone.
  await meter.focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Context' })
  await dialog.getByRole('row', { name: /^Summary of earlier messages ≈/ }).waitFor()
  await shots(page, 'compact-dialog')
  const keep = dialog.getByRole('textbox', { name: 'Keep in particular (optional)' })
  await tabTo(keep)
  await page.keyboard.type('the name of the file')
  await expect.poll(() => keep.inputValue()).toBe('the name of the file')
  await dialog
    .getByRole('button', { name: 'Compact', exact: true })
    .and(page.locator(':enabled'))
    .waitFor()
  await page.keyboard.press('Enter')
  await compacted(page, 1).waitFor()
  await untilRest(page)
  expect(model.heard[3]).toContain('the name of the file')
  expect(model.heard[3]).toContain('Mend the login.')

  // The conversation is still compacted after a restart of the program.
  expect(offences).toEqual([])
  await host.stop('SIGKILL')
  const again = (stage.host = await startHost({
    from: host,
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const reopened = await openPage(stage.browser, again.url)
  await compacted(reopened.page, 1).waitFor()
  await prompt(reopened.page, 'Sure?')
  await reopened.page.getByText('Still mended.').waitFor()
  expect(model.heard.at(-1)).toContain('Sure?')
  await reopened.page.keyboard.press('Control+,')
  await reopened.page.getByRole('tab', { name: 'Models' }).click()
  await reopened.page.getByLabel(/^Compact automatically: /).click()
  await shots(reopened.page, 'compact-settings')
  await reopened.page.getByRole('option', { name: 'Off' }).click()
  await reopened.page.getByLabel('Compact automatically: Off').waitFor()

  // What makes room is kept for all sessions, kind by kind.
  await reopened.page.getByLabel(/^Before a summary: /).click()
  await reopened.page.getByRole('option', { name: /^Keep the newest/ }).click()
  await reopened.page.getByText('Rules for each kind').click()
  await reopened.page.getByLabel(/^Answers: /).click()
  await reopened.page.getByRole('option', { name: 'Leave to the summary' }).click()
  await reopened.page.getByLabel('Answers: Leave to the summary').scrollIntoViewIfNeeded()
  await shots(reopened.page, 'compact-room')
  await reopened.page.reload()
  await compacted(reopened.page, 1).waitFor()
  await reopened.page.keyboard.press('Control+,')
  await reopened.page.getByRole('tab', { name: 'Models' }).click()
  await reopened.page.getByLabel('Before a summary: Keep the newest').waitFor()
  await reopened.page.getByText('Rules for each kind').click()
  await reopened.page.getByLabel('Answers: Leave to the summary').waitFor()
  expect(reopened.offences).toEqual([])
})

test('a compaction that fails or is stopped leaves the conversation as it was', async () => {
  let release = () => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  const { page, offences } = await start([
    { text: `The login is mended. ${answer}`, usage: usage(100) },
    { status: 401 },
    { reasoning: 'What matters?', rest: gate, text: summary },
  ])
  await prompt(page, 'Mend the login')
  await page.getByText('The login is mended.').waitFor()
  await untilRest(page)
  const meter = page.getByRole('button', { name: /^What fills the context: / })
  const dialog = page.getByRole('dialog', { name: 'Context' })
  const compact = async () => {
    await meter.click()
    await dialog.getByRole('row', { name: /^Free ≈/ }).waitFor() // the list moves the button
    await dialog.getByRole('button', { name: 'Compact', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
  }
  await compact()
  await page
    .getByText(/could not be compacted and is unchanged\. The provider does not accept the key/)
    .waitFor()
  await shots(page, 'compact-failed')
  await untilRest(page)
  await compact()
  await page.getByText('The older part of the conversation is being summarised…').waitFor()
  await prompt(page, 'And the logout?')
  await page.getByText('when the conversation is compacted').waitFor()
  await shot(page, 'compact-queued')
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('Compacting was stopped. The conversation is unchanged.').waitFor()
  release()
  await untilRest(page)
  await expect.poll(() => page.getByText('And the logout?').count()).toBe(1)
  expect(offences).toEqual([])
})

// The list of what fills the context works before the first request, during a turn and after it, adds up
// to the figure in the header, and returns the focus when it is closed.
test('the header opens a list of what fills the context', async () => {
  let release = () => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  const { page, offences } = await start([
    { calls: [{ name: 'Glob', input: { pattern: '**/*' } }], usage: usage(5990) },
    { reasoning: 'Nothing is there.', rest: gate, text: answer.slice(0, 4000), usage: usage(7990) },
  ])
  const meter = page.getByRole('button', { name: /^What fills the context: / })
  const dialog = page.getByRole('dialog', { name: 'Context' })
  const row = (name: string) => dialog.getByRole('row', { name: new RegExp(`^${name} ≈`) })
  const open = async () => {
    await meter.focus()
    await page.keyboard.press('Enter')
    await row('System prompt').waitFor()
  }
  const close = async () => {
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await untilFocused(meter)
  }
  await prompt(page, '!echo hello')
  await page.getByText('hello', { exact: true }).first().waitFor()
  await untilRest(page)
  await open()
  await row('Tool definitions').waitFor()
  await dialog.getByText(/^About .* tokens\. This is an estimate/).waitFor()
  await dialog.getByText('There is nothing to summarise yet.').waitFor()
  expect(await row('Your messages').count()).toBe(0)
  await shots(page, 'context-before')
  await close()

  await prompt(page, 'What is here?')
  await page.getByText('30%').waitFor()
  await page.getByRole('button', { name: /^Thinking/ }).waitFor()
  await open()
  await row('Tool results').waitFor()
  await dialog.getByText('A turn is running. Compact when it is done.').waitFor()
  await shot(page, 'context-running')
  await close()

  release()
  await page.getByText('40%').waitFor()
  await untilRest(page)
  await open()
  await dialog.getByText('8.0 k of 20.0 k tokens in context').waitFor()
  await dialog.getByText('The provider counted the total with its last answer').waitFor()
  await shots(page, 'context')
  await close()
  expect(offences).toEqual([])

  await page.keyboard.press('Control+,')
  await page.getByRole('tab', { name: 'Appearance' }).click()
  await page.getByRole('radio', { name: '简体中文' }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: /^上下文的构成/ }).click()
  await page.getByRole('row', { name: /^系统提示词 ≈/ }).waitFor()
  await shot(page, 'context-zh')
})
