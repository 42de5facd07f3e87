import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { violations } from './axe'
import {
  answerByKey,
  openPage,
  openPanelByKey,
  panelOf,
  pressIn,
  prompt,
  shot,
  shots,
  tabTo,
  untilFocused,
  untilRest,
} from './browser'
import { startHost } from './host'
import { startModel, type Script } from './model'
import { useStage } from './stage'

const stage = useStage()

async function start(rounds: Script, files: Record<string, string> = {}, locale = 'en') {
  const model = (stage.model = await startModel(rounds))
  const host = (stage.host = await startHost({
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
    files,
  }))
  return { host, model, ...(await openPage(stage.browser, host.url, { locale })) }
}

const read = (path: string) => ({ calls: [{ name: 'Read', input: { file_path: path } }] })
const focused = (page: Page) => page.locator(':focus')

// OAS-661, COM-70
test('a hook is written, denies a call, is replayed and switched off, by keyboard only', async () => {
  const { page, host, offences } = await start(
    [read('.env'), { text: 'I may not read it.' }, read('shop.ts'), { text: 'That was allowed.' }],
    { '.env': 'KEY=42\n', 'shop.ts': 'export {}\n' },
  )
  const panel = await openPanelByKey(page, 'Hooks')
  const list = panel.getByRole('button', { name: 'Hooks', exact: true })
  await tabTo(list)
  await page.keyboard.press('Enter')
  await panel.getByText(/^There are no hooks/).waitFor()
  await tabTo(panel.getByRole('button', { name: 'Write a hook' }))
  await page.keyboard.press('Enter')
  const form = panel.getByRole('form', { name: 'A hook' })
  const template = form.getByRole('button', { name: 'Keep .env private' })
  await untilFocused(template)
  await page.keyboard.press('Enter')
  await tabTo(form.getByRole('button', { name: 'Test', exact: true }))
  await page.keyboard.press('Enter')
  await form.getByText(/^denied: Environment files hold secrets/).waitFor()
  await tabTo(form.getByRole('button', { name: 'Write the input' }))
  await page.keyboard.press('Enter')
  await tabTo(form.getByRole('textbox', { name: 'Input of the test' }))
  await page.keyboard.press('Control+a')
  await page.keyboard.type('{"tool_name": "Read", "tool_input": {"file_path": "a.go"}}')
  await tabTo(form.getByRole('button', { name: 'Test', exact: true }))
  await page.keyboard.press('Enter')
  await form.getByText('left the call to your permissions').waitFor()
  await form.getByText('It printed nothing.').waitFor()
  await page.setViewportSize({ width: 1280, height: 1240 })
  await shots(page, 'hooks-tested')
  expect(await violations(page)).toEqual([])

  await tabTo(form.getByRole('button', { name: 'Save…' }))
  await page.keyboard.press('Enter')
  await form.getByText('This is written to .agent/local-settings.json:').waitFor()
  await shot(page, 'hooks-saving')
  const shown = await form.locator('pre').innerText()
  await page.keyboard.press('Enter')
  await panel.getByText('Saved: Keep .env private.').waitFor()
  const written = await readFile(join(host.folder, '.agent/local-settings.json'), 'utf8')
  expect(JSON.parse(written)).toEqual(JSON.parse(shown))

  await prompt(page, 'Read the key')
  await page.getByText('I may not read it.').waitFor()
  await untilRest(page)
  const card = page.getByRole('button', { name: 'Keep .env private denied it' })
  await shots(page, 'hooks-denied')
  expect(await violations(page)).toEqual([])
  await pressIn(page.getByRole('log').first(), card)
  const entry = panel.getByRole('button', { name: /details of Keep \.env private before Read/ })
  await tabTo(entry)
  await page.keyboard.press('Enter')
  await tabTo(panel.getByRole('button', { name: 'Replay' }))
  await page.keyboard.press('Enter')
  await panel.getByText('It answered the same.').waitFor()
  await shots(page, 'hooks-replayed')
  expect(await violations(page)).toEqual([])
  await tabTo(panel.getByRole('button', { name: 'Go to the call' }))
  await page.keyboard.press('Enter')
  await expect.poll(() => focused(page).innerText()).toMatch(/Read\s+\.env/)

  await pressIn(panel, list)
  const power = panel.getByRole('switch', { name: 'Run Keep .env private' })
  await tabTo(power)
  await page.keyboard.press('Space')
  await panel.getByText('is switched off').waitFor()
  await shots(page, 'hooks-off')
  await prompt(page, 'Read the shop')
  await page.getByText('That was allowed.').waitFor()
  await untilRest(page)
  await pressIn(panel, panel.getByRole('button', { name: 'Log', exact: true }))
  await tabTo(panel.getByRole('button', { name: 'Remove: Only one call' }))
  await page.keyboard.press('Enter')
  await panel.getByText('did not run: it is switched off').first().waitFor()
  await shots(page, 'hooks-log')
  expect(offences).toEqual([])
})

const refusing = JSON.stringify({
  hooks: {
    UserPromptSubmit: [
      {
        hooks: [
          {
            type: 'command',
            name: 'No secrets',
            command: 'grep -q hunter2 && { echo "It has a\u202epassword." >&2; exit 2; }; exit 0',
          },
        ],
      },
    ],
    PreToolUse: [
      {
        matcher: 'Grep',
        hooks: [
          {
            type: 'command',
            name: 'Curfew',
            command: `echo '{"continue": false, "stopReason": "It is late."}'`,
          },
        ],
      },
    ],
  },
})

// OAS-661
test('a refused message comes back, and a turn that a hook ended says which, by keyboard only', async () => {
  const { page, host, model, offences } = await start(
    [{ calls: [{ name: 'Grep', input: { pattern: 'x' } }] }],
    { '../.agent/settings.json': refusing },
  )
  const field = page.getByRole('textbox', { name: 'Message', exact: true })
  await prompt(page, 'My password is hunter2')
  const log = page.getByRole('log').first()
  await log.getByText('not sent', { exact: true }).waitFor()
  await log.getByText('It has a⟨U+202E⟩password.').waitFor()
  await log.getByText('Not sent. Change the message, and send it again.').waitFor()
  await log.getByText('The hook No secrets refused the message').waitFor()
  await expect.poll(() => field.inputValue()).toBe('My password is hunter2')
  await untilFocused(field)
  expect(model.heard).toEqual([])
  await shots(page, 'hooks-refused')
  expect(await violations(page)).toEqual([])
  const storageState = await page.context().storageState()
  const address = `${new URL('/', host.url)}`
  const chinese = await openPage(stage.browser, address, { storageState, locale: 'zh-CN' })
  await chinese.page.getByText('钩子 No secrets 拒绝了这条消息').waitFor()
  await shot(chinese.page, 'hooks-refused-zh')

  await pressIn(log, log.getByRole('button', { name: 'Show it in the log of hooks' }))
  const panel = page.getByRole('complementary', { name: 'Hooks' })
  await panel.getByText('denied: It has a⟨U+202E⟩password.').waitFor()

  await pressIn(page.getByRole('main'), field, 'Control+a')
  await page.keyboard.type('Search it')
  await page.keyboard.press('Enter')
  await log.getByText('A hook ended this turn. It is late.').waitFor()
  await log.getByText('Ended by a hook. What was said and done is kept.').waitFor()
  await untilRest(page)
  const fold = page.locator('button[data-key^="f"]')
  if (await fold.count()) await pressIn(log, fold.last())
  await log.getByText('The hook Curfew ended the turn: It is late.').waitFor()
  await shots(page, 'hooks-ended')
  expect(await violations(page)).toEqual([])
  expect([...offences, ...chinese.offences]).toEqual([])
})

/** Runs a script of its own before each call, and after edits. */
const project = JSON.stringify(
  {
    hooks: {
      PreToolUse: [
        { matcher: 'Read', hooks: [{ type: 'command', command: '.agent/hooks/guard.sh' }] },
      ],
      Stop: [{ hooks: [{ type: 'command', command: 'echo done' }] }],
    },
  },
  null,
  2,
)
const guard = '#!/bin/sh\ngrep -q secret && { echo "It is a secret." >&2; exit 2; }\nexit 0\n'

// K-35
test('a project asks before it runs its hooks, and asks again when a script changes, by keyboard only', async () => {
  const { page, host, offences } = await start(
    [
      read('secret.txt'),
      { text: 'I read it.' },
      read('secret.txt'),
      { text: 'It was denied.' },
      read('secret.txt'),
      { text: 'You said no.' },
    ],
    {
      'secret.txt': '42\n',
      '.agent/settings.json': project,
      '.agent/hooks/guard.sh': guard,
    },
  )
  await chmod(join(host.folder, '.agent/hooks/guard.sh'), 0o755)
  const strip = page.getByRole('region', { name: 'What may this project run?' })
  await strip.getByText('This project wants to run 2 programs of its own.').waitFor()
  await shots(page, 'trust-asked')
  expect(await violations(page)).toEqual([])
  await prompt(page, 'Read it')
  await page.getByText('I read it.').waitFor()
  await untilRest(page)

  await page.keyboard.press('Alt+a')
  await tabTo(strip.getByRole('button', { name: 'Review…' }))
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'May this run?' })
  await dialog.getByText('It is a secret.').waitFor()
  const trust = dialog.getByRole('button', { name: 'Trust exactly this' })
  expect(await trust.evaluate((it) => it === document.activeElement)).toBe(false)
  await shots(page, 'trust-review')
  expect(await violations(page)).toEqual([])
  await tabTo(trust)
  await page.keyboard.press('Enter')
  await dialog.getByText('echo done').first().waitFor()
  await tabTo(dialog.getByRole('button', { name: 'Never' }))
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await strip.waitFor({ state: 'detached' })

  await prompt(page, 'Read it again')
  await page.getByText('It was denied.').waitFor()
  await untilRest(page)
  await writeFile(
    join(host.folder, '.agent/hooks/guard.sh'),
    guard.replace('exit 0', 'curl -s example.com # \u202etxt\nexit 0'),
  )
  await prompt(page, 'And now?')
  await answerByKey(page, 'd')
  await page.getByText('You said no.').waitFor()
  await untilRest(page)
  await strip.getByText('1 program that you trusted has changed.').waitFor()
  await shots(page, 'trust-changed')
  await page.keyboard.press('Alt+a')
  await tabTo(strip.getByRole('button', { name: 'Review…' }))
  await page.keyboard.press('Enter')
  const again = page.getByRole('dialog', { name: 'May this still run?' })
  await again.getByText('changed since you trusted it').waitFor()
  await again.getByText('⟨U+202E⟩').first().waitFor()
  await shots(page, 'trust-diff')
  expect(await violations(page)).toEqual([])
  await tabTo(again.getByRole('button', { name: 'Not now' }))
  await page.keyboard.press('Enter')
  await strip.waitFor({ state: 'detached' })
  expect(offences).toEqual([])
})

// COM-73, COM-75
test('the panel says in Chinese what is odd about hooks, why one does not run and what another changed', async () => {
  const command = (command: string) => [{ type: 'command', command }]
  const { page, host, offences } = await start(
    [read('shop.ts'), { text: 'Gelesen.' }],
    {
      'shop.ts': 'export {}\n',
      '.agent/settings.json': JSON.stringify(
        {
          hooks: {
            PreToolUze: [{ hooks: command('true') }],
            PreToolUse: [
              { matcher: 'Edit|Bash', hooks: command('echo never') },
              {
                matcher: 'Read',
                hooks: [
                  {
                    name: 'Erste Zeile',
                    type: 'command',
                    command: `echo '{"hookSpecificOutput":{"updatedInput":{"file_path":"shop.ts","limit":1},"additionalContext":"Nur die erste Zeile."}}'`,
                  },
                ],
              },
            ],
          },
        },
        null,
        2,
      ),
    },
    'zh-CN',
  )
  const strip = page.getByRole('region', { name: '这个项目可以运行什么？' })
  await strip.getByRole('button', { name: '查看…' }).click()
  const dialog = page.getByRole('dialog', { name: '这个可以运行吗？' })
  for (const text of ['echo never', 'Nur die erste']) {
    await dialog.locator('.command').filter({ hasText: text }).waitFor()
    await dialog.getByRole('button', { name: '仅信任以上内容' }).click()
  }
  await dialog.waitFor({ state: 'detached' })
  const field = page.getByRole('textbox', { name: '消息', exact: true })
  await field.fill('读')
  await field.press('Enter')
  await page.getByText('Gelesen.').waitFor()
  await untilRest(page)

  const rail = page.getByRole('navigation', { name: '面板' })
  await rail.getByRole('button', { name: '钩子' }).click()
  const panel = panelOf(page, '钩子')
  await panel.getByRole('button', { name: '钩子', exact: true }).click()
  await panel.getByText(/没有 PreToolUze 这个事件/).waitFor()
  const first = panel.getByRole('listitem').filter({ hasText: 'Erste Zeile' })
  await first.getByText(/匹配式 Read 本指 Read，但也匹配 ReadMany/).waitFor()
  const never = panel.getByRole('listitem').filter({ hasText: 'echo never' })
  await never.getByRole('button', { name: '它为什么不运行？' }).click()
  await never.getByText(/不匹配：Read 不是 Edit\|Bash/).waitFor()
  await shots(page, 'hooks-chinese')
  expect(await violations(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await violations(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'light' })

  await panel.getByRole('button', { name: '日志', exact: true }).click()
  await panel.getByText(/修改了输入/).waitFor()
  await panel.getByRole('button', { name: /Erste Zeile/ }).click()
  await panel.getByText('告诉模型', { exact: true }).waitFor()
  await shots(page, 'hooks-chinese-log')
  expect(await violations(page)).toEqual([])

  await panel.getByRole('button', { name: '钩子', exact: true }).click()
  await never.getByRole('button', { name: /^编辑/ }).click()
  const form = panel.getByRole('form', { name: '钩子' })
  await form.getByRole('textbox', { name: /匹配式/ }).fill('Rea')
  await form.getByText(/它匹配 Read/).waitFor()
  await form.getByText(/在查看的 1 次调用中，它匹配 1 次。/).waitFor()
  await form.getByRole('button', { name: '用历史调用试运行' }).click()
  await form.getByText('它本会如何回答').waitFor()
  await page.setViewportSize({ width: 1280, height: 1100 })
  await shot(page, 'hooks-chinese-editor')
  await page.setViewportSize({ width: 900, height: 800 })
  await rail.getByRole('button', { name: '钩子' }).click()
  await shot(page, 'hooks-chinese-900')
  expect(await violations(page)).toEqual([])
  await page.setViewportSize({ width: 1280, height: 800 })
  await panel.getByRole('button', { name: '取消' }).click()
  await never.getByRole('button', { name: /^移除/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: '移除', exact: true }).click()
  await panel.getByText('已移除：echo never。').waitFor()

  // K-34: a trusted guard that is taken out is missed until the user does without it.
  await writeFile(join(host.folder, '.agent/settings.json'), '{}')
  await panel.getByText(/这 1 个守护调用的钩子已从文件中移除/).waitFor()
  await shots(page, 'hooks-gone')
  expect(await violations(page)).toEqual([])
  await tabTo(panel.getByRole('button', { name: '不再需要' }))
  await page.keyboard.press('Enter')
  await panel.getByText(/已从文件中移除/).waitFor({ state: 'detached' })
  expect(offences).toEqual([])
})

const slow = (file: string) =>
  `echo "Line one of ${file}"; until [ -e ../${file} ]; do sleep 0.05; done`

/** Two that wait until the test makes a file, and one that says something to the user. */
const waiting = JSON.stringify({
  hooks: {
    UserPromptSubmit: [
      { hooks: [{ type: 'command', name: 'Gate', timeout: 600, command: slow('gate.txt') }] },
    ],
    PostToolUse: [
      {
        hooks: [
          {
            type: 'command',
            name: 'Style',
            timeout: 600,
            statusMessage: 'Checking the style…',
            command: slow('style.txt'),
          },
          {
            type: 'command',
            name: 'Tidy',
            command: `echo '{"systemMessage":"All 3 files are\u202e tidy."}'`,
          },
        ],
      },
    ],
  },
})

// OAS-668
test('a running hook is shown, and its message to the user is a line', async () => {
  const { page, host, offences } = await start([read('shop.ts'), { text: 'I read the shop.' }], {
    'shop.ts': 'export {}\n',
    '../.agent/settings.json': waiting,
  })
  await prompt(page, 'Read the shop')
  await page.getByText('The hook Gate runs').waitFor()
  await page.getByText('Line one of gate.txt').waitFor()
  await shots(page, 'hooks-running')
  expect(await violations(page)).toEqual([])
  await writeFile(join(host.folder, '../gate.txt'), '')
  await page.getByText('Checking the style…').waitFor()
  await page.getByText('Line one of style.txt').waitFor()
  expect(await page.getByText('The hook Gate runs').count()).toBe(0)
  await shots(page, 'hooks-running-call')
  await writeFile(join(host.folder, '../style.txt'), '')
  await page.getByText('I read the shop.').waitFor()
  await page.getByText('Checking the style…').waitFor({ state: 'detached' })
  await untilRest(page)
  const fold = page.locator('button[data-key^="f"]')
  if (await fold.count()) await fold.last().click()
  await page.getByText('All 3 files are⟨U+202E⟩ tidy.').waitFor()
  await shots(page, 'hooks-said')
  expect(offences).toEqual([])
})
