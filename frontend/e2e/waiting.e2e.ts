import { existsSync } from 'node:fs'
import { readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { violations } from './axe'
import {
  answer,
  answerByKey,
  keyTo,
  openPage,
  openPanel,
  panelOf,
  pick,
  prompt,
  shot,
  shots,
  tabTo,
  untilArmed,
  untilFocused,
  untilRest,
} from './browser'
import { startHost, type Setup } from './host'
import { startModel, type Round } from './model'
import { useStage } from './stage'

const stage = useStage()

const run = (command: string): Round => ({ calls: [{ name: 'Bash', input: { command } }] })
const question = (page: Page, tool = 'Bash') =>
  page.getByRole('main').getByRole('region', { name: `Needs you: ${tool}` })
const waiting = (page: Page) => panelOf(page, 'Waiting')
const asked = (page: Page) => waiting(page).getByRole('region', { name: /^Needs you/ })
const rail = (page: Page, n: number) =>
  page
    .getByRole('navigation', { name: 'Panels' })
    .getByRole('button', { name: n > 0 ? `Waiting, ${n}` : 'Waiting', exact: true })

async function start(rounds: Round[], setup: Setup = {}) {
  const model = (stage.model ??= await startModel(rounds))
  const env = { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' }
  const host = (stage.host = await startHost({ env, ...setup }))
  return { host, ...(await openPage(stage.browser, host.url)) }
}

/** Begins a session with each prompt, whose first round asks something. */
async function ask(page: Page, ...prompts: string[]) {
  for (const [at, text] of prompts.entries()) {
    if (at > 0) await page.keyboard.press('Alt+n')
    await prompt(page, text)
    await question(page).waitFor()
  }
  await rail(page, prompts.length).waitFor()
}

const calm = (offences: string[]) =>
  offences.filter((line) => !/ERR_CONNECTION|WebSocket/.test(line))

// OAS-630: what waits survives a kill, is listed over all sessions, and is answered
// there, without opening its session.
test('questions of all sessions outlive a kill and are answered in one place', async () => {
  const first = await start([
    run('touch one'),
    run('rm -rf /opt/elsewhere'),
    { text: 'One is done.' },
    { text: 'Two is left out.' },
  ])
  await ask(first.page, 'Make one', 'Tidy up')
  await first.host.stop('SIGKILL')
  const { page, host, offences } = await start([], { from: first.host })
  await page.keyboard.press('Alt+n')
  await rail(page, 2).waitFor()
  await openPanel(page, 'Waiting')
  await waiting(page).getByText('Make one').waitFor()
  const folded = waiting(page).getByRole('button', { name: /^Tidy up.*Bash rm -rf/ })
  await folded.waitFor()
  await asked(page).getByText('touch one').waitFor()
  await shots(page, 'waiting')
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await violations(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'light' })
  expect(await violations(page)).toEqual([])

  await answer(asked(page))
  await rail(page, 1).waitFor()
  await expect.poll(() => readFile(join(host.folder, 'one'), 'utf8')).toBe('')
  // A dangerous request has no filled button.
  await asked(page).getByText('rm -rf /opt/elsewhere', { exact: true }).waitFor()
  const allow = asked(page).getByRole('button', { name: 'Allow', exact: true })
  expect(await allow.getAttribute('class')).not.toContain('primary')
  await shots(page, 'waiting-dangerous')
  await answer(asked(page), 'Deny')
  await waiting(page).getByText('Nothing waits for you.').waitFor()
  await rail(page, 0).waitFor()
  await page
    .getByRole('button', { name: /Make one/ })
    .first()
    .click()
  await page.getByText('One is done.').waitFor()
  expect(calm(offences)).toEqual([])
})

test('by keyboard only: from anywhere to what waits, and answers there', async () => {
  const { page, offences } = await start([
    run('touch one'),
    run('touch two'),
    { text: 'Two is left out.' },
    run('touch three'),
    { text: 'All is done.' },
  ])
  await ask(page, 'Make one', 'Make two')
  await page.keyboard.press('Alt+n')
  await page.keyboard.press('Alt+a')
  await asked(page).getByText('touch one').waitFor()
  await untilFocused(asked(page))
  await tabTo(waiting(page).getByRole('button', { name: /^Make two/ }))
  await page.keyboard.press('Enter')
  await asked(page).getByText('touch two').waitFor()
  await untilArmed(asked(page).and(page.locator(':focus-within')))
  await page.keyboard.press('d')
  await rail(page, 1).waitFor()
  await asked(page).getByText('touch one').waitFor()
  await untilArmed(asked(page).and(page.locator(':focus-within')))
  await page.keyboard.press('a')
  // The next question comes when nothing else waits, and takes the focus.
  await asked(page).getByText('touch three').waitFor()
  await untilFocused(asked(page))
  await untilArmed(asked(page).and(page.locator(':focus-within')))
  await page.keyboard.press('a')
  await waiting(page).getByText('Nothing waits for you.').waitFor()
  expect(offences).toEqual([])
})

test('an answer becomes a rule that can be edited, and answers what else it decides about', async () => {
  const { page, host, offences } = await start([
    run('touch one'),
    { text: 'Past.' },
    run('touch one'),
    run('touch one'),
    { text: 'Done.' },
    { text: 'Done.' },
  ])
  await prompt(page, 'Once')
  await answer(question(page))
  await page.getByText('Past.').waitFor()
  await untilRest(page)
  await page.keyboard.press('Alt+n')
  await ask(page, 'Again', 'And again')
  await openPanel(page, 'Waiting')
  await answer(question(page), 'Always…')
  const form = page.getByRole('form', { name: 'Which calls to allow from now on' })
  const field = form.getByRole('textbox', { name: 'Rule' })
  await expect.poll(() => field.inputValue()).toMatch(/^Bash\(touch/)
  await form.getByText(/would have allowed 3/).waitFor()
  await shots(page, 'rule')
  await field.fill('Bash(touch')
  await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true')
  await shot(page, 'rule-unreadable')
  expect(await violations(page)).toEqual([])
  await field.fill('Bash(touch *)')
  await form.getByText(/would have allowed 3/).waitFor()
  await form.getByRole('combobox', { name: /^Ends/ }).click()
  await page.getByRole('option', { name: 'Ends in 7 days' }).click()
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await violations(page)).toEqual([])
  await form.getByRole('button', { name: 'Allow and remember' }).click()
  await waiting(page).getByText('Your rule answered 1 other request.').waitFor()
  await rail(page, 0).waitFor()
  await shot(page, 'rule-answered-dark')
  const stored = await readFile(join(host.folder, '.agent/local-settings.json'), 'utf8')
  expect(stored).toContain('Bash(touch *)')
  expect(stored).toContain('expires')
  expect(offences).toEqual([])
})

test('by keyboard only: a denial becomes a rule of all projects', async () => {
  const { page, host, offences } = await start([
    run('touch one'),
    run('touch one'),
    { text: 'Not done.' },
  ])
  await prompt(page, 'Make one')
  await answerByKey(page, 'n')
  const form = page.getByRole('form', { name: 'Which calls to deny from now on' })
  await expect
    .poll(() => form.getByRole('textbox', { name: 'Rule' }).inputValue())
    .toMatch(/^Bash\(touch/)
  await shot(page, 'rule-deny')
  const scope = form.getByRole('combobox', { name: /^Applies to/ })
  await tabTo(scope)
  await pick(page, 'All your projects')
  const remember = form.getByRole('button', { name: 'Deny and remember' })
  await expect.poll(() => remember.isEnabled()).toBe(true)
  await tabTo(remember)
  await page.keyboard.press('Enter')
  // The second call is denied without a question.
  await page.getByText('Not done.').waitFor()
  const stored = await readFile(join(host.folder, '../.agent/settings.json'), 'utf8')
  expect(stored).toContain('deny')
  expect(offences).toEqual([])
})

test('by keyboard only: for the session, and a denial that says why', async () => {
  const { page, offences } = await start([
    run('touch one'),
    run('touch one'),
    run('touch two'),
    { text: 'Understood.' },
  ])
  await prompt(page, 'Go')
  await answerByKey(page, 's')
  await question(page).getByText('touch two').waitFor() // the second one was not asked about
  await answerByKey(page, 'f')
  await untilFocused(question(page).getByRole('textbox'))
  await page.keyboard.type('use three')
  await page.keyboard.press('Enter')
  await page.getByText('Understood.').waitFor()
  expect(stage.model!.heard.at(-1)).toContain('use three')
  expect(offences).toEqual([])
})

test('identical requests are answered together for once, those that were shown', async () => {
  const { page, offences } = await start([
    run('touch one'),
    run('touch one'),
    run('touch one'),
    { text: 'Done.' },
    { text: 'Done.' },
    { text: 'Done.' },
  ])
  await ask(page, 'First', 'Second', 'Third')
  const also = question(page).getByRole('checkbox', {
    name: 'Also answer 2 identical requests: First · Second',
  })
  await also.check()
  await shots(page, 'alike')
  await answer(question(page))
  await rail(page, 0).waitFor()
  await page.getByText('Done.').waitFor()
  expect(offences).toEqual([])
})

test('a path that leads elsewhere by now is asked about again', async () => {
  const { page, host, offences } = await start([
    { calls: [{ name: 'Write', input: { file_path: 'new.txt', content: 'ours\n' } }] },
    { text: 'Seen.' },
  ])
  await prompt(page, 'Write it')
  await question(page, 'Write').waitFor()
  await untilArmed(question(page, 'Write'))
  const before = await page.locator('[data-approval]').getAttribute('data-approval')
  await symlink(join(host.folder, '../outside.txt'), join(host.folder, 'new.txt'))
  await answer(question(page, 'Write'))
  await page.locator(`[data-approval]:not([data-approval="${before}"])`).waitFor()
  await question(page, 'Write').getByText('has changed since you were asked').first().waitFor()
  await question(page, 'Write').getByText('outside.txt').first().waitFor()
  await shot(page, 'renewed')
  await answer(question(page, 'Write'), 'Deny')
  await page.getByText('Seen.').waitFor()
  expect(existsSync(join(host.folder, '../outside.txt'))).toBe(false)
  expect(offences).toEqual([])
})

test('of two tabs one answers, and plan mode offers nothing that it would not keep', async () => {
  const { page, host, offences } = await start([run('touch one'), { text: 'Done.' }])
  await page.getByRole('combobox', { name: /^Permission mode/ }).click()
  await page.getByRole('option', { name: /^Plan/ }).click()
  await prompt(page, 'Make one')
  await question(page).waitFor()
  await shot(page, 'plan')
  for (const name of ['Allow for session', 'Always…']) {
    expect(await question(page).getByRole('button', { name, exact: true }).count()).toBe(0)
  }
  await question(page).getByText('The mode “Plan” asks about this.').waitFor()
  await shot(page, 'plan')
  const state = await page.context().storageState()
  const other = await openPage(stage.browser, `${new URL('/', host.url)}`, { storageState: state })
  await openPanel(other.page, 'Waiting')
  await asked(other.page).waitFor()
  await answer(question(page), 'Deny')
  await waiting(other.page).getByText('Nothing waits for you.').waitFor()
  expect([...offences, ...other.offences]).toEqual([])
})

test('一切可以在中文界面回答', async () => {
  const { page, host } = await start([run('touch one'), { text: 'Done.' }])
  await prompt(page, 'Make one')
  await question(page).waitFor()
  const state = await page.context().storageState()
  const chinese = await openPage(stage.browser, `${new URL('/', host.url)}`, {
    storageState: state,
    locale: 'zh-CN',
  })
  await chinese.page
    .getByRole('navigation', { name: '面板' })
    .getByRole('button', { name: /^等待中/ })
    .click()
  const dock = chinese.page.getByRole('main').locator('[data-approval]')
  await untilArmed(dock)
  await keyTo(dock.getByRole('button', { name: /^始终允许/ }), 'Tab')
  await chinese.page.keyboard.press('Enter')
  await chinese.page.getByRole('form', { name: '从现在起允许哪些调用' }).waitFor()
  await shot(chinese.page, 'rule-zh')
  expect(chinese.offences).toEqual([])
})
