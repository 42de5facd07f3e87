import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  answer,
  openPage,
  openPanel,
  pressIn,
  prompt,
  shot,
  shots,
  tabTo,
  untilRest,
} from './browser'
import { startHost } from './host'
import { startModel, type Script } from './model'
import { useStage } from './stage'

const stage = useStage()

const models = ['lead-1', 'writer-1', 'counter-1'].map((id) => ({
  provider: 'compat',
  id,
  display_name: id,
  context_window: 400_000,
  input: 10,
  output: 0,
}))
/** Local models are free, so the models get an address that is not a loopback address. */
async function start(
  rounds: Script,
  byModel: Record<string, Script>,
  files: Record<string, string> = { 'a.txt': 'one line\n' },
) {
  const model = (stage.model = await startModel(rounds, byModel))
  const url = model.url.replace('127.0.0.1', '0.0.0.0')
  const env = { COMPAT_BASE_URL: url, COMPAT_API_KEY: 'test-key' }
  const host = (stage.host = await startHost({ models, env, files }))
  return { host, ...(await openPage(stage.browser, host.url)) }
}

/** Usage that costs one cent. */
const usage = { input: 1000, cached: 0, output: 0 }
const note = 'Write a note about the milk'
const count = 'Count the files'
const spawn = (task: string, model: string) => ({ name: 'SpawnAgent', input: { task, model } })

/** Waits for every agent whose id the conversation names. */
const waitForAll = (conversation: string) => ({
  calls: [...conversation.matchAll(/agent_id\W+([\w-]+)/g)].map(([, agent_id]) => ({
    name: 'Wait',
    input: { agent_id },
  })),
  usage,
})

const lead: Script = [
  {
    text: 'I hand this out.',
    calls: [spawn(note, 'writer-1'), spawn(count, 'counter-1')],
    usage,
  },
  waitForAll,
  { text: 'All of it is done.', usage },
]
const agents: Record<string, Script> = {
  'writer-1': [
    {
      text: 'I write it down.',
      calls: [{ name: 'Write', input: { file_path: 'note.txt', content: 'the milk\n' } }],
      usage,
    },
    { text: 'The note is **written**.', usage },
  ],
  'counter-1': [
    { calls: [{ name: 'Bash', input: { command: 'rm -f lock && ls | wc -l' } }], usage },
    { text: 'There is one file.', usage },
  ],
}

// LOOP-48, LOOP-49, LOOP-145, LOOP-149: agents are shown, answered, unfolded and
// opened from the session that started them, and cost what it costs.
test('agents ask in the conversation that started them, unfold there, and open as sessions', async () => {
  const { host, page, offences } = await start(lead, agents)
  await prompt(page, 'Keep a note and count the files')

  // Both wait, and the parent's conversation says so.
  await page.getByText('1 of 2').waitFor()
  const sidebar = page.getByRole('navigation', { name: 'Sessions' })
  await sidebar.getByRole('button', { name: new RegExp(`^needs you ${note}`) }).waitFor()
  await sidebar.getByRole('button', { name: /^needs you Keep a note/ }).waitFor()
  await sidebar.getByRole('list', { name: 'Needs you' }).getByText('Keep a note').waitFor()
  const card = (task: string) => page.getByRole('button', { name: `details of Agent ${task}` })
  await card(note).getByText('needs you').waitFor()
  await shot(page, 'agents-waiting')
  await page.emulateMedia({ colorScheme: 'dark' })
  await shot(page, 'agents-waiting-dark')
  await page.emulateMedia({ colorScheme: 'light' })

  // Answered one after the other, each under its agent's task.
  const question = page.locator('[data-approval]')
  const first = (await question.getByText(note).count()) > 0 ? note : count
  await shot(page, 'agents-question')
  await answer(question)
  await question.getByText(`for “${first === note ? count : note}”`).waitFor()
  await question.getByText('1 of').waitFor({ state: 'detached' })
  await answer(question)
  await question.waitFor({ state: 'detached' })
  await page.getByText('All of it is done.').waitFor()
  await untilRest(page)
  expect(await readFile(join(host.folder, 'note.txt'), 'utf8')).toBe('the milk\n')

  // Once idle they are folded in the sidebar, and the cards show their rounds and costs.
  const child = sidebar.locator('[data-session]').filter({ hasText: note })
  await child.waitFor({ state: 'detached' })
  await card(note)
    .getByText(/done\s*1 round · 2\.0 k · \$0\.02/)
    .waitFor()
  await page.getByRole('button', { name: 'Cost of this session: $0.0700' }).waitFor()
  await page.getByRole('button', { name: /2 agents/ }).click()
  await page.getByRole('button', { name: `details of Wait ${note}` }).click()
  await page.getByText('The note is written.').waitFor()
  await shot(page, 'agents-done')

  // The card unfolds to the agent's conversation and stays unfolded.
  await card(note).click()
  const nested = page.getByRole('log', { name: `Conversation of agent: ${note}` })
  await nested.getByText('The note is written.').waitFor()
  await shot(page, 'agents-folded')

  // Its turn is folded to a line, which unfolds, like those of the conversation around it.
  expect(await nested.getByText('I write it down.').count()).toBe(0)
  await nested.getByRole('button', { name: /1 changed/ }).click()
  await nested.getByText('I write it down.').waitFor()
  await nested.getByRole('button', { name: 'details of Write note.txt' }).click()
  await nested.getByText('the milk').last().waitFor()
  await shot(page, 'agents-unfolded')
  await page.emulateMedia({ colorScheme: 'dark' })
  await shot(page, 'agents-unfolded-dark')
  await page.emulateMedia({ colorScheme: 'light' })
  await page.reload()
  await nested.getByText('The note is written.').waitFor()
  await page.setViewportSize({ width: 900, height: 800 })
  await shot(page, 'agents-unfolded-900')
  await page.setViewportSize({ width: 1280, height: 800 })

  // The agent opens as a session, with a link back.
  await page
    .getByRole('button', { name: `Open agent: ${note}` })
    .first()
    .click()
  await page.getByRole('heading', { level: 1, name: note }).waitFor()
  await page.getByRole('button', { name: 'Cost of this session: $0.0200' }).waitFor()
  await child.waitFor()
  await shot(page, 'agents-opened')
  await page
    .getByRole('navigation', { name: 'Started by' })
    .getByRole('button', { name: /^Keep a note/ })
    .click()
  await nested.getByText('The note is written.').waitFor()
  await child.waitFor({ state: 'detached' })
  await sidebar.locator('[data-session]').first().focus()
  await page.keyboard.press('ArrowRight')
  await child.waitFor()
  const panel = await openPanel(page, 'Cost')
  await panel.getByRole('row', { name: new RegExp(note) }).waitFor()
  await shot(page, 'agents-cost')

  const chinese = await openPage(stage.browser, `${new URL('/', host.url)}`, {
    storageState: await page.context().storageState(),
    locale: 'zh-CN',
  })
  await chinese.page
    .getByRole('button', { name: `打开智能体：${note}` })
    .first()
    .waitFor()
  await shot(chinese.page, 'agents-zh')
  expect(chinese.offences).toEqual([])
  expect(offences).toEqual([])
})

test('the work of an agent is walked through and copied, and its prompt is not sent again, by keyboard only', async () => {
  const { page, offences } = await start(
    [
      { calls: [spawn(note, 'writer-1')], usage },
      waitForAll,
      { text: 'All of it is done.', usage },
    ],
    {
      'writer-1': [
        { text: 'I look.', calls: [{ name: 'Read', input: { file_path: 'a.txt' } }], usage },
        { text: 'It has **one** line.', usage },
      ],
    },
  )
  const { keyboard } = page
  await prompt(page, 'Let somebody look')
  await page.getByText('All of it is done.').waitFor()
  await untilRest(page)
  const pane = page.getByRole('region', { name: 'Conversation', exact: true })
  await pressIn(pane, page.getByRole('button', { name: `details of Agent ${note}` }))
  const nested = page.getByRole('log', { name: `Conversation of agent: ${note}` })
  await nested.getByText('It has one line.').waitFor()
  await tabTo(nested)
  const focused = () =>
    expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? ''))
  // All journeys share one clipboard, which those of actions.e2e.ts use.
  const copies: string[] = []
  await page.exposeFunction('keepCopy', (text: string) => void copies.push(text))
  await page.evaluate(() => {
    const { keepCopy } = window as unknown as { keepCopy: (text: string) => Promise<void> }
    navigator.clipboard.writeText = keepCopy
  })
  const copied = () => expect.poll(() => copies.at(-1))

  await keyboard.press('Alt+ArrowUp')
  await focused().toMatch(/^Answer: It has/)
  await keyboard.press('c')
  await copied().toBe('It has one line.')
  await shot(page, 'agents-copied')
  await keyboard.press('Alt+ArrowUp')
  await focused().toBe('Finished turn')
  await keyboard.press('m')
  await copied().toContain('I look.')
  await keyboard.press('Enter')
  await nested.getByText('I look.').waitFor()
  await keyboard.press('Alt+ArrowUp')
  await focused().toMatch(/^Your message: /)
  await keyboard.press('c')
  await copied().toContain(note)
  await keyboard.press('r')
  await keyboard.press('e')

  // Past either end, the keys go on in the outer conversation.
  await keyboard.press('Alt+ArrowUp')
  await focused().toMatch(/^Call: Agent/)
  expect(await page.getByRole('textbox', { name: 'Message', exact: true }).inputValue()).toBe('')
  expect(await page.getByText('All of it is done.').count()).toBe(1)
  expect(offences).toEqual([])
})

// LOOP-49: a long conversation is shown from its end, and its question can be answered there.
test('a long conversation of an agent unfolds at its end, and is answered there', async () => {
  const reads = Array.from({ length: 45 }, (_, at) => ({
    text: `Step ${at + 1}.`,
    calls: [{ name: 'Read', input: { file_path: 'a.txt', limit: at + 1 } }],
    usage,
  }))
  const asks = { calls: [{ name: 'Bash', input: { command: 'rm -f lock' } }], usage }
  const { page, offences } = await start(
    [
      { calls: [spawn(note, 'writer-1')], usage },
      { text: 'It works on its own.', usage },
    ],
    { 'writer-1': [...reads, asks, { text: 'That was all.', usage }] },
  )
  await prompt(page, 'Let somebody read it')
  await page.getByText('It works on its own.').waitFor()
  const question = page.getByRole('region', { name: 'Needs you: Bash' })
  await question.getByText(`for “${note}”`).waitFor()
  await untilRest(page)
  await page.getByRole('button', { name: `details of Agent ${note}` }).click()
  const nested = page.getByRole('log', { name: `Conversation of agent: ${note}` })
  await nested.getByRole('button', { name: 'Go to the question: Bash rm -f lock' }).waitFor()
  await shot(page, 'agents-long')
  await expect
    .poll(() => nested.evaluate((box) => box.scrollHeight - box.scrollTop))
    .toBeLessThan(450)
  expect(await nested.locator('.row').count()).toBeLessThan(60)
  await answer(question)
  await nested.getByText('That was all.').waitFor()
  await question.waitFor({ state: 'detached' })
  await page.getByText(/46 rounds/).waitFor()
  await shot(page, 'agents-long-done')
  expect(offences).toEqual([])
})

test('the folded turn of an agent counts what it did, however long ago, without being scrolled', async () => {
  const names = Array.from({ length: 100 }, (_, at) => `${at}.txt`)
  const reads = names
    .filter((_, at) => at % 2 === 0)
    .map((_, at) => ({
      calls: names
        .slice(2 * at, 2 * at + 2)
        .map((file_path) => ({ name: 'Read', input: { file_path } })),
      usage,
    }))
  const { page, offences } = await start(
    [
      { calls: [spawn(note, 'writer-1')], usage },
      waitForAll,
      { text: 'All of it is done.', usage },
    ],
    { 'writer-1': [...reads, { text: 'That was all.', usage }] },
    Object.fromEntries(names.map((name) => [name, `${name}\n`])),
  )
  await prompt(page, 'Let somebody read them all')
  await page.getByText('All of it is done.').waitFor()
  await untilRest(page)
  await page.reload()
  await page.getByRole('button', { name: `details of Agent ${note}` }).click()
  const nested = page.getByRole('log', { name: `Conversation of agent: ${note}` })
  await nested.getByRole('button', { name: /100 read/ }).waitFor()
  expect(offences).toEqual([])
})

test('the card of an agent with a worktree says where it works', async () => {
  const apart = {
    name: 'SpawnAgent',
    input: { task: note, model: 'writer-1', isolation: 'worktree' },
  }
  const { page, host, offences } = await start(
    [
      { calls: [apart], usage },
      { text: 'It works elsewhere.', usage },
    ],
    { 'writer-1': [{ text: 'It is written.', usage }] },
  )
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], {
      cwd: host.folder,
    })
  git('init', '-q', '-b', 'main')
  git('commit', '-q', '--allow-empty', '-m', 'Begin')
  await prompt(page, 'Let somebody write it')
  await page.getByText('It works elsewhere.').waitFor()
  const tree = page.getByTitle(
    /^Works in the worktree \.worktrees\/[\w-]+, on the branch worktree-/,
  )
  await tree.waitFor()
  await shots(page, 'agents-worktree')
  expect(offences).toEqual([])
})
