import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { violations } from './axe'
import {
  answer,
  answerByKey,
  openPage,
  openPanel,
  openPanelByKey,
  panelOf,
  pick,
  prompt,
  shot,
  shots,
  tabTo,
  untilFocused,
  untilRest,
} from './browser'
import { startHost } from './host'
import { startModel, type Round } from './model'
import { useStage } from './stage'

const stage = useStage()

/** Rounds of turns that run one command each. */
const turns = (...commands: string[]): Round[] =>
  commands.flatMap((command) => [
    { calls: [{ name: 'Bash', input: { command } }] },
    { text: `Ran ${command}.` },
  ])

async function start(rounds: Round[], files: Record<string, string> = {}, locale = 'en') {
  const model = (stage.model = await startModel(rounds))
  const host = (stage.host = await startHost({
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
    files,
  }))
  return { host, ...(await openPage(stage.browser, host.url, { locale })) }
}

const asks = (page: Page, text: string) =>
  page.getByRole('region', { name: 'Needs you: Bash' }).filter({ hasText: text })
const said = (page: Page, command: string) => page.getByText(`Ran ${command}.`, { exact: true })
const focused = (page: Page) => page.locator(':focus')

// OAS-630
test('a rule is added, decides, is made stricter, removed and restored, by keyboard only', async () => {
  const { page, offences } = await start(turns('touch one', 'touch two', 'touch three'))
  const panel = await openPanelByKey(page, 'Permissions')
  await tabTo(panel.getByRole('button', { name: 'Rules', exact: true }))
  await page.keyboard.press('Enter')
  await panel.getByText(/^There are no rules yet/).waitFor()
  await tabTo(panel.getByRole('button', { name: 'Add a rule' }))
  await page.keyboard.press('Enter')
  const form = panel.getByRole('form', { name: 'A rule' })
  const text = form.getByRole('textbox', { name: 'Rule' })
  await untilFocused(text)

  await page.keyboard.type('Bash(')
  await form.getByRole('alert').waitFor()
  const add = form.getByRole('button', { name: 'Add the rule' })
  await expect.poll(() => add.isDisabled()).toBe(true)
  await page.keyboard.type('touch *)')
  await form.getByText('commands that begin with touch').waitFor()
  await tabTo(form.getByRole('combobox', { name: /^Decision/ }))
  await pick(page, 'Allow')
  await tabTo(form.getByRole('combobox', { name: /^Ends/ }))
  await pick(page, 'In a week')
  await form.getByText(/Nothing has run here yet/).waitFor()
  await shots(page, 'rule-form')
  await expect.poll(() => add.isEnabled()).toBe(true)
  await tabTo(add)
  await page.keyboard.press('Enter')
  await panel.getByText('Added: Bash(touch *).').waitFor()
  await panel.getByText(/^commands that begin with touch\s*· ends /).waitFor()
  await expect.poll(() => focused(page).innerText()).toBe('Add a rule')

  await prompt(page, 'Go')
  await said(page, 'touch one').waitFor()
  await untilRest(page)
  await tabTo(panel.getByRole('button', { name: 'What ran' }))
  await page.keyboard.press('Enter')
  await panel.getByText('Allowed by the rule Bash(touch *), yours in this project.').waitFor()
  await tabTo(panel.getByRole('button', { name: /details of Bash touch one/ }))
  await page.keyboard.press('Enter')
  await panel.getByRole('button', { name: 'Ask instead' }).waitFor()
  await shots(page, 'stricter')
  expect(await violations(page)).toEqual([])
  await tabTo(panel.getByRole('button', { name: 'Ask instead' }))
  await page.keyboard.press('Enter')
  await panel.getByText('Done. The next such call follows it.').waitFor()

  await prompt(page, 'Again')
  await asks(page, 'touch two').waitFor()
  await answerByKey(page)
  await said(page, 'touch two').waitFor()

  await tabTo(panel.getByRole('button', { name: 'Rules', exact: true }))
  await page.keyboard.press('Enter')
  const remove = panel.getByRole('button', { name: 'Remove the rule Bash(touch *)' })
  await tabTo(remove)
  await page.keyboard.press('Enter')
  await panel.getByText('Removed: Bash(touch *).').waitFor()
  await expect.poll(() => focused(page).innerText()).toBe('Undo')
  await shot(page, 'rule-removed')
  await page.keyboard.press('Enter')
  await remove.waitFor()
  await expect.poll(() => focused(page).innerText()).toBe('Add a rule')
  expect(offences).toEqual([])
})

const settings = JSON.stringify(
  {
    permissions: {
      allow: [
        'Bash(touch *)',
        { rule: 'Bash(npm *)', expires: '2099-01-01T00:00:00Z' },
        { rule: 'Bash(make *)', expires: '2020-01-01T00:00:00Z' },
      ],
      ask: ['Bash(git push *)'],
      deny: ['Bash(curl *)', 'Bash('],
    },
    sandbox: { network: { allowedDomains: ['shop.example'] } },
  },
  null,
  2,
)

test('a project’s rules that allow hold once they are accepted, and a faulty rule says what is wrong', async () => {
  const { page, host, offences } = await start(turns('touch one', 'touch two'), {
    '.agent/settings.json': settings,
  })
  const icon = (name: string) => page.getByRole('button', { name, exact: true })
  await icon('Permissions, 1').waitFor()
  await prompt(page, 'Go')
  await asks(page, 'touch one').waitFor()
  await answer(asks(page, 'touch one'))
  await said(page, 'touch one').waitFor()
  await untilRest(page)
  const panel = await openPanel(page, 'Permissions')
  await panel.getByRole('button', { name: 'Rules', exact: true }).click()
  await panel.getByText(/allows 2 things that you have not accepted/).waitFor()
  await panel.getByText('"shop.example"').waitFor()
  const rows = panel.getByRole('list', { name: 'Rules shared with the project' })
  await expect
    .poll(() => rows.getByRole('listitem').allInnerTexts())
    .toEqual(
      expect.arrayContaining([
        expect.stringMatching(/touch \*[^]*not accepted yet/),
        expect.stringMatching(/make \*[^]*ended/),
        expect.stringMatching(/curl \*/),
        expect.stringMatching(/Bash\([^]*cannot be read[^]*line/i),
      ]),
    )
  await shots(page, 'rules-project')
  expect(await violations(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await violations(page)).toEqual([])
  await panel.getByRole('button', { name: 'Accept exactly this' }).click()
  await panel.getByText('Accepted: .agent/settings.json.').waitFor()
  await expect.poll(() => panel.getByText(/not accepted/).count()).toBe(0)
  await icon('Permissions').waitFor()
  await panel.getByRole('button', { name: 'Expire now: Bash(npm *)' }).click()
  await panel.getByText('Expired: Bash(npm *).').waitFor()
  await panel.getByRole('button', { name: /^Expire now/ }).waitFor({ state: 'detached' })
  await panel.getByText(/^commands that begin with npm\s*· ended /i).waitFor()
  await shot(page, 'rule-expired')
  // The rule that cannot be read makes commands ask until it is taken out.
  await panel.getByRole('button', { name: 'Remove the rule Bash(', exact: true }).click()
  await panel.getByText('Removed: Bash(.').waitFor()
  await prompt(page, 'Again')
  await said(page, 'touch two').waitFor()

  // What is written into the file by hand is listed at once.
  const file = join(host.folder, '.agent/settings.json')
  await writeFile(file, JSON.stringify({ permissions: { deny: ['Bash(mv *)'] } }))
  await rows.getByText('Bash(mv *)').waitFor()
  expect(offences).toEqual([])
})

test('an answer for the session ends when the user says so', async () => {
  const { page, host, offences } = await start(turns('touch same', 'touch same', 'touch same'))
  await prompt(page, 'Go')
  await asks(page, 'touch same').waitFor()
  await answerByKey(page, 's')
  await said(page, 'touch same').waitFor()
  await untilRest(page)
  await prompt(page, 'Again')
  const panel = await openPanel(page, 'Permissions')
  await panel.getByText('You allowed identical calls for this session.').waitFor()
  await untilRest(page)
  await panel
    .getByRole('button', { name: /details of Bash touch same/ })
    .first()
    .click()
  await panel.getByRole('button', { name: 'Ask again in this session' }).click()
  await panel.getByText('Done. The next such call follows it.').waitFor()
  await shot(page, 'stricter-grant')
  await prompt(page, 'Once more')
  await asks(page, 'touch same').waitFor()
  await answerByKey(page, 'd')

  // Denied for the project from now on, by a rule that is written to its file.
  await panel.getByRole('button', { name: 'Deny from now on…' }).first().click()
  const form = panel.getByRole('form', { name: 'A rule' })
  await expect
    .poll(() => form.getByRole('textbox', { name: 'Rule' }).inputValue())
    .toBe('Bash(touch same)')
  await form.getByRole('button', { name: 'Add the rule' }).click()
  await form.waitFor({ state: 'detached' })
  const file = join(host.folder, '.agent/local-settings.json')
  await expect
    .poll(async () => JSON.parse(await readFile(file, 'utf8')) as unknown)
    .toEqual({ permissions: { deny: ['Bash(touch same)'] } })
  expect(offences).toEqual([])
})

test('the panel speaks Chinese', async () => {
  const { page, offences } = await start([], { '.agent/settings.json': settings }, 'zh-CN')
  await page.getByRole('button', { name: '权限' }).click()
  const panel = panelOf(page, '权限')
  await panel.getByRole('button', { name: '规则', exact: true }).click()
  await panel.getByText(/允许以下 2 项你尚未接受的操作/).waitFor()
  await panel.getByRole('button', { name: '添加规则' }).click()
  await shot(page, 'rules-chinese')
  expect(offences).toEqual([])
})
