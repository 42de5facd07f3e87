import { expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { violations } from './axe'
import {
  openPage,
  openPanel,
  prompt,
  shots,
  tabTo,
  unfoldTurn,
  untilArmed,
  untilFocused,
  untilRest,
} from './browser'
import { startHost } from './host'
import { startModel, type Script } from './model'
import { useStage } from './stage'

const stage = useStage()

async function start(rounds: Script, locale = 'en') {
  const model = (stage.model = await startModel(rounds))
  const env = { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' }
  const host = (stage.host = await startHost({ env }))
  return { model, ...(await openPage(stage.browser, host.url, { locale })) }
}

const card = (page: Page, name: RegExp) => page.getByRole('region', { name })

const questions = {
  questions: [
    {
      question: 'Which store should the sessions have?',
      header: 'Store',
      options: [
        {
          label: 'SQLite (recommended)',
          description: 'One file, transactions, full-text search.',
          preview: 'CREATE TABLE sessions (\n  id TEXT PRIMARY KEY,\n  at INTEGER\n);',
        },
        {
          label: 'Plain files',
          description: 'A folder with a file for each session.',
          preview: 'sessions/\n  01J8.json\n  01J9.json',
        },
      ],
    },
    {
      question: 'What has to be exported?',
      header: 'Export',
      multiSelect: true,
      options: [{ label: 'Markdown' }, { label: 'HTML' }, { label: 'JSON' }],
    },
  ],
}

// OAS-307, K-18
test('questions of the agent are answered by keyboard, in the page that was opened again', async () => {
  const { model, page, offences } = await start([
    { text: 'Two things first.', calls: [{ name: 'ask_user', input: questions }] },
    { text: 'SQLite it is.' },
  ])
  await prompt(page, 'Store the sessions')
  const asked = card(page, /The agent has 2 questions/)
  await asked.getByText('Which store should the sessions have?').waitFor()
  await page.locator('[data-session]').first().waitFor()
  await shots(page, 'asked-question')
  expect(await violations(page)).toEqual([])

  await untilArmed(asked)
  await asked.focus()
  await page.keyboard.press('2')
  await expect.poll(() => asked.getByRole('radio', { name: /Plain files/ }).isChecked()).toBe(true)
  await asked.getByText('01J8.json').waitFor()

  // What is chosen and written outlives the page.
  await asked.getByRole('textbox', { name: 'In your own words: Export' }).fill('and PDF')
  await page.reload()
  await expect.poll(() => asked.getByRole('radio', { name: /Plain files/ }).isChecked()).toBe(true)
  const words = asked.getByRole('textbox', { name: 'In your own words: Export' })
  expect(await words.inputValue()).toBe('and PDF')

  await asked.getByRole('radio', { name: /SQLite/ }).focus()
  await page.keyboard.press('Space')
  await tabTo(asked.getByRole('checkbox', { name: /Markdown/ }))
  await page.keyboard.press('Space')
  await tabTo(asked.getByRole('checkbox', { name: /JSON/ }))
  await page.keyboard.press('Space')
  await untilArmed(asked)
  await tabTo(asked.getByRole('button', { name: 'Send answers' }))
  await page.keyboard.press('Enter')
  await page.getByText('SQLite it is.').waitFor()
  const heard = model.heard.at(-1)!
  for (const part of ['SQLite (recommended)', 'Markdown', 'JSON', 'in their own words: and PDF']) {
    expect(heard).toContain(part)
  }
  expect(heard).not.toContain('Plain files')
  await unfoldTurn(page)
  await page
    .getByRole('button', { name: /AskUser/ })
    .first()
    .click()
  await page.getByText('and PDF', { exact: true }).waitFor()
  await shots(page, 'asked-answered')
  expect(await violations(page)).toEqual([])
  expect(offences).toEqual([])
})

test('a question can be left unanswered, in Chinese', async () => {
  const { model, page, offences } = await start(
    [{ calls: [{ name: 'ask_user', input: questions }] }, { text: '好的。' }],
    'zh-CN',
  )
  const message = page.getByRole('textbox', { name: '消息' })
  await message.fill('保存会话')
  await message.press('Enter')
  const asked = card(page, /智能体有 2 个问题/)
  await asked.getByText('Which store').waitFor()
  await shots(page, 'asked-question-zh')
  await untilArmed(asked)
  await asked.getByRole('button', { name: '不回答' }).click()
  await page.getByText('好的。').waitFor()
  expect(model.heard.at(-1)).toContain('The user did not answer the questions')
  expect(offences).toEqual([])
})

const todos = (...statuses: string[]) => ({
  name: 'todo_write',
  input: {
    todos: ['Read the code', 'Write the test', 'Mend the bug'].map((content, at) => ({
      content,
      status: statuses[at],
      activeForm: `${content.replace(/^(\w+?)e? /, '$1ing ')}`,
    })),
  },
})

// OAS-328
test('the list of tasks stands above the message field and in the list of sessions, also after a reload', async () => {
  let go = () => {}
  const rest = new Promise<void>((resolve) => (go = resolve))
  const { page, offences } = await start([
    { calls: [todos('in_progress', 'pending', 'pending')] },
    { text: 'First.', calls: [todos('completed', 'in_progress', 'pending')] },
    { rest, text: 'Going on.', calls: [todos('completed', 'completed', 'completed')] },
    { text: 'All is done.' },
  ])
  await prompt(page, 'Mend it')
  const strip = page.getByRole('region', { name: 'The agent’s tasks' })
  await strip.getByText('Writing the test').waitFor()
  await strip.getByText('1 of 3').waitFor()
  const row = page.locator('[data-session]').first()
  await row.getByText('Writing the test').waitFor()
  await strip.getByRole('button').focus() // Shift+Tab in the message field changes the mode
  await page.keyboard.press('Enter')
  await strip.getByText('Mend the bug').waitFor()
  await shots(page, 'asked-todos')
  expect(await violations(page)).toEqual([])
  await page.reload()
  await strip.getByText('Writing the test').waitFor()
  go()
  await page.getByText('All is done.').waitFor()
  await strip.waitFor({ state: 'detached' })
  expect(offences).toEqual([])
})

const plan = `# Remember the user

Why: people type their name again and again.

## Steps

1. Read \`login.ts\`
2. Store the name, **not** the password
   in local storage

\`\`\`ts
localStorage.setItem('name', name)
\`\`\`

## Check

- the unit tests
- by hand in a private window
`

// OAS-329, OAS-330
test('a plan is begun, commented on, sent back, edited and approved with a mode', async () => {
  let told = ''
  const { model, page, offences } = await start([
    { calls: [{ name: 'enter_plan_mode', input: { reason: 'It touches the login.' } }] },
    { calls: [{ name: 'exit_plan_mode', input: { plan } }] },
    { calls: [{ name: 'exit_plan_mode', input: { plan: `${plan}- on a phone\n` } }] },
    (conversation) => {
      told = conversation
      return { text: 'I carry it out.' }
    },
  ])
  await prompt(page, 'Remember the user')
  const first = card(page, /wants to plan first/)
  await first.getByText('It touches the login.').waitFor()
  await shots(page, 'asked-plan-first')
  await untilArmed(first)
  await first.focus()
  await page.keyboard.press('y')

  const shown = card(page, /The agent’s plan/)
  await shown.getByRole('heading', { name: 'Remember the user' }).waitFor()
  await page.getByRole('combobox', { name: 'Permission mode: Plan' }).waitFor()
  await shown.getByRole('button', { name: 'Comment on line 8' }).focus()
  await page.keyboard.press('Enter')
  const field = shown.getByRole('textbox', { name: 'Your comment on line 8' })
  await untilFocused(field)
  await page.keyboard.type('for how long?')
  await shots(page, 'asked-plan')
  expect(await violations(page)).toEqual([])
  await untilArmed(shown)
  await shown.getByRole('button', { name: 'Send back' }).click()
  await expect.poll(() => model.heard.at(-1)).toContain('On line 8')
  expect(model.heard.at(-1)).toContain('for how long?')

  await shown.getByText('on a phone').waitFor()
  await untilArmed(shown)
  await shown.getByRole('button', { name: 'Edit', exact: true }).click()
  const text = shown.getByRole('textbox', { name: 'The plan' })
  await text.fill((await text.inputValue()).replace('in local storage', 'for a month'))
  await shots(page, 'asked-plan-edit')
  await shown.getByRole('button', { name: 'Read', exact: true }).click()
  await shown.getByText('for a month').waitFor()
  await shown.getByRole('combobox', { name: /^Continue in/ }).click()
  await page.getByRole('option', { name: /Accept edits/ }).click()
  await untilArmed(shown)
  await shown.getByRole('button', { name: 'Approve' }).click()
  await page.getByText('I carry it out.').waitFor()
  expect(told).toContain('The user edited the plan and approved it.')
  await page.getByRole('combobox', { name: 'Permission mode: Accept edits' }).waitFor()
  await untilRest(page)
  await shots(page, 'asked-plan-approved')
  const panel = await openPanel(page, 'Plan')
  await panel.getByRole('heading', { name: 'The plan that you edited and approved' }).waitFor()
  await panel.getByText('for a month').waitFor()
  await page.reload()
  await panel.getByText('for a month').waitFor()
  await shots(page, 'asked-plan-panel')
  expect(await violations(page)).toEqual([])
  expect(offences).toEqual([])
})
