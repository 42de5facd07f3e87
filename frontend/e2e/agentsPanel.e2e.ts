import { expect, test } from 'vitest'
import { openPage, openPanelByKey, prompt, shot, untilRest } from './browser'
import { startHost } from './host'
import { startModel, type Script } from './model'
import { useStage } from './stage'

const stage = useStage()
const models = ['lead-1', 'helper-1'].map((id) => ({
  provider: 'compat',
  id,
  display_name: id,
  context_window: 400_000,
  input: 10,
  output: 0,
}))
const usage = { input: 1000, cached: 0, output: 0 }
const review = `---\nname: reviewer\ndescription: Reviews changes.\ntools: Read, Grep, Bash\n---\nBe strict.\n`

/** A call that starts an agent in the background. */
const begin = (task: string, more: Record<string, unknown>) => ({
  name: 'spawn_agent',
  input: { task, model: 'helper-1', ...more },
})

// OAS-311, COM-61: the panel shows what agents do, take and cost; one click opens, stops or writes to one.
test('the panel Agents shows the tree, opens agents, stops them and gives them messages', async () => {
  const lead: Script = [
    {
      text: 'I hand this out.',
      calls: [
        begin('Review the last change', { agent_type: 'reviewer', name: 'rob' }),
        begin('Count the files', {}),
      ],
      usage,
    },
    {
      calls: [
        { name: 'task_create', input: { subject: 'Read the last change', owner: 'rob' } },
        { name: 'task_create', input: { subject: 'Write it down', blocked_by: ['task_1'] } },
        { name: 'team_create', input: { name: 'red', members: ['rob', 'eve'] } },
        { name: 'send_message', input: { to: 'eve', message: 'Wait for what rob finds.' } },
      ],
      usage,
    },
    { text: 'They are at work.', usage },
  ]
  const helper: Script = [
    { calls: [{ name: 'shell', input: { command: 'rm -f lock && sleep 600' } }], usage },
    { calls: [{ name: 'shell', input: { command: 'rm -f lock && sleep 601' } }], usage },
    { text: 'It is as you say.', usage },
  ]
  const model = (stage.model = await startModel(lead, { 'helper-1': helper }))
  const env = {
    COMPAT_BASE_URL: model.url.replace('127.0.0.1', '0.0.0.0'),
    COMPAT_API_KEY: 'test-key',
  }
  const files = {
    '.claude/agents/reviewer.md': review,
    '.claude/agents/odd.md': '---\nname: odd\ndescription: Odd.\nmemory: user\n---\n',
    '.claude/agents/broken.md': 'no frontmatter\n',
    'a.txt': 'one line\n',
  }
  const host = (stage.host = await startHost({ models, env, files }))
  const { page, offences } = await openPage(stage.browser, host.url)
  await prompt(page, 'Look at it with others')
  await page.getByText('They are at work.').waitFor()

  const panel = await openPanelByKey(page, 'Agents')
  const rows = panel.getByRole('list', { name: 'Agents of this session' }).getByRole('listitem')
  await expect.poll(() => rows.count()).toBe(2)
  const reviewer = rows.filter({ hasText: 'Review the last change' })
  await reviewer.getByText('rob · reviewer').waitFor()
  await reviewer.getByText('needs you').waitFor()
  await reviewer.getByText(/1\.0 k · \$0\.01/).waitFor()
  await panel.getByText('2 working').waitFor()
  const board = panel.getByRole('list', { name: 'Board of tasks' }).getByRole('listitem')
  await board.filter({ hasText: 'Write it down' }).getByText('task_2 · waits for task_1').waitFor()
  const messages = panel.getByRole('list', { name: 'Messages between agents' })
  await messages.getByText('Wait for what rob finds.').waitFor()
  await messages.getByText('not read yet').waitFor()
  await shot(page, 'agents-panel')
  await page.emulateMedia({ colorScheme: 'dark' })
  await shot(page, 'agents-panel-dark')
  await page.emulateMedia({ colorScheme: 'light' })

  // OAS-507: a person adds a task, changes its status and deletes it, by keyboard.
  await panel.getByRole('button', { name: 'Add a task' }).press('Enter')
  const subject = panel.getByRole('textbox', { name: 'What is to be done' })
  await subject.pressSequentially('Thank them')
  await subject.press('Enter')
  const mine = board.filter({ hasText: 'Thank them' })
  await mine.getByRole('button', { name: 'Thank them' }).press('Enter')
  await mine.getByRole('combobox', { name: 'Status: waits' }).press('Enter')
  await shot(page, 'agents-board-status')
  await page.getByRole('option', { name: 'completed', exact: true }).click()
  await mine.getByText('completed').waitFor()
  await shot(page, 'agents-board')
  await mine.getByRole('button', { name: 'Delete task: Thank them' }).press('Enter')
  await expect.poll(() => board.count()).toBe(2)

  // Stopped, then given another task, by keyboard.
  await reviewer.getByRole('button', { name: 'Stop agent: Review the last change' }).press('Enter')
  await reviewer.getByText('stopped').waitFor()
  await reviewer
    .getByRole('button', { name: 'Write to agent: Review the last change' })
    .press('Enter')
  const field = reviewer.getByRole('textbox', {
    name: 'Message to agent: Review the last change',
  })
  await field.pressSequentially('Was it right?')
  await shot(page, 'agents-panel-message')
  await field.press('Enter')
  await reviewer.getByText('done').waitFor()
  expect(model.heard.join('')).toContain('Was it right?')

  // The files of agents, with what is wrong with them.
  await panel.getByText('2 with something wrong').waitFor()
  await panel.getByRole('button', { name: 'Kinds of agents' }).press('Enter')
  await panel.getByText('The key memory has no effect here.').waitFor()
  await panel.getByText('cannot be used').waitFor()
  await shot(page, 'agents-kinds')
  await panel.getByRole('button', { name: 'Kinds of agents' }).press('Enter')

  // Opened as a session, where the panel shows the same tree.
  await reviewer.getByRole('button', { name: 'Open agent: Review the last change' }).click()
  await page.getByText('It is as you say.').waitFor()
  await expect.poll(() => rows.count()).toBe(2)
  await page.setViewportSize({ width: 900, height: 800 })
  await shot(page, 'agents-panel-900')
  await page.setViewportSize({ width: 1280, height: 800 })
  await panel.getByRole('button', { name: 'Look at it with others' }).click()
  await rows.filter({ hasText: 'Count the files' }).getByRole('button', { name: /^Stop/ }).click()
  await untilRest(page)

  const chinese = await openPage(stage.browser, `${new URL('/', host.url)}`, {
    storageState: await page.context().storageState(),
    locale: 'zh-CN',
  })
  await chinese.page.getByText('同时工作 4 个').waitFor()
  await shot(chinese.page, 'agents-panel-zh')
  expect(chinese.offences).toEqual([])
  expect(offences).toEqual([])
})
