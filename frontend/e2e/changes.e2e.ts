import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { violations } from './axe'
import {
  acceptEdits,
  answerByKey,
  openPage,
  openPanelByKey,
  pick,
  pressIn,
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

const cart = (tax: string) =>
  [
    'package cart',
    '',
    '// Total adds up all prices.',
    `func Total(items []Item${tax && ', tax float64'}) int {`,
    ...Array.from({ length: 40 }, (_, at) => `\tstep${at}()`),
    `\treturn sum(items)${tax}`,
    '}',
    '',
  ].join('\n')

const git = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })

async function start(
  rounds: Round[],
  { repository = true, language = 'en', env = {} as Record<string, string> } = {},
) {
  const model = (stage.model = await startModel(rounds))
  const host = (stage.host = await startHost({
    files: { 'src/cart.go': cart(''), 'README.md': '# Shop\n' },
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key', ...env },
  }))
  if (repository) {
    git(host.folder, 'init', '-q', '-b', 'main')
    git(host.folder, 'config', 'user.name', 'T')
    git(host.folder, 'config', 'user.email', 't@example.com')
    git(host.folder, 'add', '.')
    git(host.folder, 'commit', '-qm', 'Begin')
  }
  const opened = await openPage(stage.browser, host.url, { locale: language })
  await opened.page.getByRole('textbox').first().waitFor()
  return { host, model, ...opened }
}

const edits: Round = {
  calls: [
    { name: 'Read', input: { file_path: 'src/cart.go' } },
    { name: 'Write', input: { file_path: 'src/cart.go', content: cart(' * tax') } },
    {
      name: 'Write',
      input: { file_path: 'src/tax.go', content: 'package cart\n\nconst tax = 1.2\n' },
    },
  ],
}

const panel = (page: Page) => page.getByRole('complementary', { name: 'Changes' })
const row = (page: Page, name: string) => panel(page).getByRole('button', { name })
/** Opens a file, or closes it, with the keyboard. */
const toggle = (page: Page, name: string) => pressIn(panel(page), row(page, name))
const pressHere = (page: Page, name: string) =>
  pressIn(panel(page), panel(page).getByRole('button', { name, exact: true }).last())

/** Chooses with the keyboard what the changes are compared with. */
async function chooseScope(page: Page, name: string) {
  await tabTo(panel(page).getByRole('combobox', { name: /^Changes of/ }))
  await pick(page, name)
}

test('the panel opens itself at the first change, once, and shows what changed, by keyboard only', async () => {
  const { page, offences, host } = await start([
    edits,
    { text: 'Done.' },
    { calls: [{ name: 'Write', input: { file_path: 'src/more.go', content: 'package cart\n' } }] },
    { text: 'More done.' },
  ])
  await acceptEdits(page)
  await prompt(page, 'Add tax')
  await panel(page).waitFor()
  await page.getByText('Done.', { exact: true }).waitFor()
  await untilRest(page)
  await toggle(page, 'modified cart.go')
  const table = panel(page).getByRole('table', { name: 'Changes in src/cart.go' })
  await table.locator('.word', { hasText: 'tax' }).first().waitFor()
  await shots(page, 'changes-session')
  await pressIn(panel(page), table.getByRole('button', { name: 'Show the next 20 lines' }).first())
  await table.getByText('step8()').waitFor()
  await shot(page, 'changes-context')
  // The user closes it: the next change leaves it closed.
  await page.keyboard.press('Control+.')
  await panel(page).waitFor({ state: 'detached' })
  await prompt(page, 'Add more')
  await page.getByText('More done.').waitFor()
  await untilRest(page)
  expect(await panel(page).count()).toBe(0)
  await page.keyboard.press('Control+.')
  await row(page, 'added more.go').waitFor()
  await chooseScope(page, 'Last turn')
  await row(page, 'cart.go').waitFor({ state: 'detached' })
  await row(page, 'added more.go').waitFor()
  // Changes by others are seen as soon as the page is looked at again.
  await chooseScope(page, 'Uncommitted')
  await writeFile(join(host.folder, 'README.md'), '# Shop\n\nMore.\n')
  await page.evaluate(() => window.dispatchEvent(new Event('focus')))
  await row(page, 'modified README.md').waitFor()
  await shots(page, 'changes-uncommitted')
  expect(offences).toEqual([])
})

test('what a command changed opens the panel and is shown with its lines, by keyboard only', async () => {
  const command = 'printf "more\\n" >> README.md; printf "1\\n2\\n" > made.txt'
  const { page, offences } = await start([
    { calls: [{ name: 'Bash', input: { command } }] },
    { text: 'Done.' },
  ])
  await prompt(page, 'Write more')
  await answerByKey(page)
  await panel(page).waitFor()
  await untilRest(page)
  await row(page, 'added made.txt').waitFor()
  await toggle(page, 'modified README.md')
  const table = panel(page).getByRole('table', { name: 'Changes in README.md' })
  await table.locator('.add', { hasText: 'more' }).waitFor()
  await shots(page, 'changes-command')
  expect(offences).toEqual([])
})

test('comments are written, and sent as one message with their places, by keyboard only', async () => {
  const { page, offences, model } = await start([edits, { text: 'Done.' }, { text: 'Noted.' }])
  await acceptEdits(page)
  await prompt(page, 'Add tax')
  await page.getByText('Done.', { exact: true }).waitFor()
  await untilRest(page)
  await toggle(page, 'modified cart.go')
  const table = panel(page).getByRole('table', { name: 'Changes in src/cart.go' })
  await tabTo(table)
  // The body has all texts, and the focus for a moment when a form closes.
  const focused = () =>
    page.evaluate(() => document.activeElement?.closest('body *')?.textContent ?? '')
  await page.keyboard.press('n')
  await expect.poll(focused).toContain('items []Item) int')
  await page.keyboard.press('j')
  await expect.poll(focused).toContain('tax float64')
  await page.keyboard.press('c')
  const form = (place: string) => panel(page).getByRole('textbox', { name: `Comment on ${place}` })
  await untilFocused(form('src/cart.go:4'))
  await page.keyboard.type('Use a decimal type.')
  await shot(page, 'changes-comment-form')
  await page.keyboard.press('Enter')
  await panel(page).getByText('Use a decimal type.').waitFor()
  await expect.poll(focused).toContain('tax float64')
  await page.keyboard.press('n')
  await expect.poll(focused).toContain('return sum(items)')
  await page.keyboard.press('c')
  await untilFocused(form('src/cart.go:45'))
  await page.keyboard.type('Why was this so?')
  await page.keyboard.press('Escape')
  await expect.poll(focused).toContain('return sum(items)')
  await page.keyboard.press('c')
  await untilFocused(form('src/cart.go:45'))
  expect(await form('src/cart.go:45').inputValue()).toBe('Why was this so?')
  await page.keyboard.press('Enter')
  await panel(page).getByRole('group', { name: '2 comments' }).waitFor()
  await shots(page, 'changes-comments')
  await page.setViewportSize({ width: 900, height: 800 })
  await panel(page).waitFor({ state: 'detached' })
  await page.keyboard.press('Control+.')
  await panel(page).getByText('Use a decimal type.').waitFor()
  await shot(page, 'changes-floating')
  await page.keyboard.press('Control+.')
  await panel(page).waitFor({ state: 'detached' })
  await page.setViewportSize({ width: 1280, height: 800 })
  await panel(page).waitFor()
  await page.reload()
  const strip = panel(page).getByRole('group', { name: '2 comments' })
  await pressIn(panel(page), strip.getByRole('button', { name: 'Send' }))
  await page.getByText('Noted.').waitFor()
  expect(model.heard.at(-1)).toContain('src/cart.go:4\\n> func Total(items []Item, tax float64)')
  expect(model.heard.at(-1)).toContain('Use a decimal type.')
  expect(model.heard.at(-1)).toContain('src/cart.go:45 (removed line)')
  await strip.waitFor({ state: 'detached' })
  await shot(page, 'changes-sent')
  expect(offences).toEqual([])
})

test('a comment is listed when its file is reverted, and another session does not say so, by keyboard only', async () => {
  const { page, offences, model } = await start([edits, { text: 'Done.' }, { text: 'Noted.' }])
  await acceptEdits(page)
  await prompt(page, 'Add tax')
  await page.getByText('Done.', { exact: true }).waitFor()
  await untilRest(page)
  await toggle(page, 'added tax.go')
  await tabTo(panel(page).getByRole('table', { name: 'Changes in src/tax.go' }))
  await page.keyboard.press('n')
  await page.keyboard.press('c')
  await untilFocused(panel(page).getByRole('textbox', { name: 'Comment on src/tax.go:1' }))
  await page.keyboard.type('Round it.')
  await page.keyboard.press('Enter')
  await pressHere(page, 'Revert all of tax.go')
  await tabTo(page.getByRole('dialog').getByRole('button', { name: 'Revert' }))
  await page.keyboard.press('Enter')
  const said = panel(page).getByText('src/tax.go was reverted.')
  await said.waitFor()
  await panel(page).getByText('Round it.').waitFor({ state: 'detached' })

  const strip = panel(page).getByRole('group', { name: '1 comment' })
  await pressIn(panel(page), strip.getByRole('button', { name: '1 comment' }))
  await strip.getByText('src/tax.go:1').waitFor()
  await strip.getByText('Round it.').waitFor()
  await shot(page, 'changes-comments-listed')
  expect(await violations(page)).toEqual([])
  await pressIn(strip, strip.getByRole('button', { name: 'Remove the comment' }))
  await strip.waitFor({ state: 'detached' })
  await untilFocused(row(page, 'modified cart.go'))

  await page.keyboard.press('Alt+n')
  await page.getByRole('heading', { name: /^What shall we work on/ }).waitFor()
  await said.waitFor({ state: 'detached' })
  expect(model.heard).toHaveLength(2)
  expect(offences).toEqual([])
})

test('a hunk and a file are reverted, and refused where somebody changed them since, by keyboard only', async () => {
  const { page, offences, host } = await start([edits, { text: 'Done.' }])
  await acceptEdits(page)
  await prompt(page, 'Add tax')
  await page.getByText('Done.', { exact: true }).waitFor()
  await untilRest(page)
  await toggle(page, 'modified cart.go')
  await pressHere(page, 'Revert')
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await shot(page, 'changes-put-back')
  await tabTo(dialog.getByRole('button', { name: 'Revert' }))
  await page.keyboard.press('Enter')
  await panel(page).getByText('Lines of src/cart.go were reverted.').waitFor()
  const now = await readFile(join(host.folder, 'src/cart.go'), 'utf8')
  expect(now).toContain('tax float64')
  expect(now).not.toContain('* tax')
  await toggle(page, 'added tax.go')
  await panel(page).getByText('const tax = 1.2').waitFor()
  await writeFile(join(host.folder, 'src/tax.go'), 'package cart\n\nconst tax = 1.3\n')
  await pressHere(page, 'Revert all of tax.go')
  await tabTo(dialog.getByRole('button', { name: 'Revert' }))
  await page.keyboard.press('Enter')
  await panel(page)
    .getByText(/has changed since it was shown/)
    .waitFor()
  await shots(page, 'changes-refused')
  expect(await readFile(join(host.folder, 'src/tax.go'), 'utf8')).toContain('1.3')
  expect(offences).toEqual([])
})

test('files are staged and committed on a new branch, by keyboard only', async () => {
  const { page, offences, host } = await start([edits, { text: 'Done.' }])
  await acceptEdits(page)
  await prompt(page, 'Add tax')
  await page.getByText('Done.', { exact: true }).waitFor()
  await untilRest(page)
  await chooseScope(page, 'Uncommitted')
  await pressIn(
    panel(page),
    panel(page).getByRole('checkbox', { name: 'Stage src/tax.go' }),
    'Space',
  )
  await panel(page).getByText('1 staged file').waitFor()
  await pressHere(page, 'New branch…')
  await untilFocused(page.getByRole('dialog', { name: 'New branch' }).getByRole('textbox'))
  await page.keyboard.type('tax')
  await page.keyboard.press('Enter')
  await panel(page).getByText('The branch tax was created').waitFor()
  await tabTo(panel(page).getByRole('textbox', { name: 'Commit message' }))
  await page.keyboard.type('Add the tax')
  await shots(page, 'changes-commit')
  // The panel was away in the narrow window, and the message stayed.
  await tabTo(panel(page).getByRole('button', { name: 'Commit', exact: true }))
  await page.keyboard.press('Enter')
  await panel(page)
    .getByText(/Committed as/)
    .waitFor()
  await shot(page, 'changes-committed')
  expect(git(host.folder, 'log', '-1', '--format=%s %D')).toContain('Add the tax HEAD -> tax')
  expect(git(host.folder, 'show', '--stat', '--format=', 'HEAD')).not.toContain('cart.go')
  expect(offences).toEqual([])
})

test('a branch is compared with its base, and a file opens in the editor, by keyboard only', async () => {
  const programs = await mkdtemp(join(tmpdir(), 'atelier-editor-'))
  const opened = join(programs, 'opened')
  const script = `#!/bin/sh\necho "$@" > ${opened}\n`
  await writeFile(join(programs, 'code'), script, { mode: 0o755 })
  const PATH = `${programs}:${process.env.PATH}`
  const { page, offences, host } = await start([], { env: { PATH, VISUAL: 'code' } })
  git(host.folder, 'checkout', '-qb', 'tax')
  await writeFile(join(host.folder, 'src/cart.go'), cart(' * tax'))
  git(host.folder, 'commit', '-qam', 'Add tax')
  await openPanelByKey(page, 'Changes')
  await panel(page).getByText('Nothing differs from the last commit.').waitFor()
  await chooseScope(page, 'Branch')
  await panel(page).getByRole('combobox', { name: 'Compared with: main' }).waitFor()
  await toggle(page, 'modified cart.go')
  await panel(page).getByRole('rowheader', { name: 'removed line 45' }).waitFor()
  await shots(page, 'changes-branch')
  await pressHere(page, 'Open cart.go in your editor')
  await expect
    .poll(() => readFile(opened, 'utf8').catch(() => ''))
    .toContain(join(host.folder, 'src/cart.go'))
  expect(await panel(page).getByRole('alert').count()).toBe(0)
  await rm(programs, { recursive: true })
  expect(offences).toEqual([])
})

test('every state has its word, and nothing that axe finds wrong', async () => {
  const { page, offences, host } = await start([{ text: 'Hello.' }])
  const found: string[] = []
  const check = async (state: string) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      found.push(...(await violations(page)).map((each) => `${state}, ${colorScheme}: ${each}`))
    }
    await page.emulateMedia({ colorScheme: 'light' })
  }
  const refresh = () => panel(page).getByRole('button', { name: 'Refresh' }).click()
  await page.getByRole('button', { name: /^Changes/ }).click()
  await panel(page).getByText('Nothing differs from the last commit.').waitFor()
  await check('nothing')
  await writeFile(join(host.folder, 'logo.png'), new Uint8Array([137, 80, 78, 71, 0, 1, 2, 0]))
  await writeFile(join(host.folder, 'src/cart.go'), cart(' * tax'))
  await writeFile(join(host.folder, 'huge.txt'), 'a line of text\n'.repeat(200_000))
  await chmod(join(host.folder, 'src/cart.go'), 0o755)
  await rm(join(host.folder, 'README.md'))
  await refresh()
  await row(page, 'untracked logo.png').click()
  await panel(page).getByText('This is a binary file.').waitFor()
  await check('binary')
  await shots(page, 'changes-binary')
  await row(page, 'untracked huge.txt').click()
  await panel(page)
    .getByText(/too large to compare/)
    .waitFor()
  await row(page, 'deleted README.md').click()
  await panel(page).getByRole('rowheader', { name: 'removed line 1', exact: true }).waitFor()
  await row(page, 'modified cart.go').click()
  await panel(page).getByText('The file became executable.').waitFor()
  await panel(page).getByRole('rowheader', { name: 'added line 4', exact: true }).waitFor()
  await check('a diff')
  await panel(page).getByRole('button', { name: 'Comment on added line 4', exact: true }).click()
  await panel(page)
    .getByRole('textbox', { name: /Comment on/ })
    .fill('Why?')
  await check('a comment')
  await panel(page).getByRole('button', { name: 'Add comment' }).click()
  await check('comments')
  git(host.folder, 'checkout', '-qb', 'other')
  git(host.folder, 'commit', '-qam', 'Change')
  git(host.folder, 'checkout', '-q', 'main')
  await writeFile(join(host.folder, 'src/cart.go'), cart(' * 2'))
  git(host.folder, 'commit', '-qam', 'Change otherwise')
  expect(() => git(host.folder, 'rebase', 'other')).toThrow()
  await refresh()
  await panel(page)
    .getByText(/A rebase is in progress/)
    .waitFor()
  await row(page, 'has conflicts cart.go').waitFor()
  await check('a rebase')
  await shots(page, 'changes-rebase')
  await rm(join(host.folder, '.git'), { recursive: true })
  await refresh()
  await panel(page).getByText('This folder is not in a git repository.').waitFor()
  await check('no repository')
  await shots(page, 'changes-no-git')
  expect(found).toEqual([])
  expect(offences).toEqual([])
})

test('without git a session’s own changes are there; in Chinese, too', async () => {
  const { page, offences } = await start([edits, { text: 'Done.' }], {
    repository: false,
    language: 'zh-CN',
  })
  const field = page.getByRole('textbox', { name: '消息' })
  await field.press('Shift+Tab')
  await field.press('Shift+Tab')
  await field.fill('加税')
  await field.press('Enter')
  const changes = page.getByRole('complementary', { name: '改动' })
  await changes.waitFor()
  await page.getByText('Done.', { exact: true }).waitFor()
  await untilRest(page)
  await changes.getByRole('button', { name: '已修改 cart.go' }).click()
  await changes.getByRole('table').locator('.word').first().waitFor()
  await changes.getByRole('table').locator('[data-comment]').nth(4).click()
  await untilFocused(changes.getByRole('textbox'))
  await page.keyboard.type('为什么？')
  await page.keyboard.press('Enter')
  await changes.getByText('1 条评论').waitFor()
  await shots(page, 'changes-zh')
  await changes.getByRole('combobox', { name: /显示范围/ }).click()
  await page.getByRole('option', { name: /未提交/ }).click()
  await changes.getByText('此文件夹不在 git 仓库中。').waitFor()
  await shot(page, 'changes-zh-no-git')
  expect(offences).toEqual([])
})

test('5,000 changed files keep the window quick', async () => {
  const { page, offences, host } = await start([{ text: 'Hello.' }])
  await mkdir(join(host.folder, 'many'))
  const names = Array.from({ length: 5000 }, (_, at) => join(host.folder, 'many', `file-${at}.txt`))
  for (const name of names) await writeFile(name, 'text\n')
  const begun = Date.now()
  await page.getByRole('button', { name: /^Changes/ }).click()
  await panel(page).getByText('5,000 files').waitFor()
  console.log('5,000 files after', Date.now() - begun, 'ms')
  await expect.poll(() => panel(page).getByRole('listitem').count()).toBe(200)
  await panel(page).getByRole('button', { name: 'Show 200 more files' }).click()
  await expect.poll(() => panel(page).getByRole('listitem').count()).toBe(400)
  await shot(page, 'changes-many')
  expect(offences).toEqual([])
})
