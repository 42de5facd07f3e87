import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, openPanelByKey, panelOf, pressIn, shot } from './browser'
import { startHost } from './host'
import { useStage } from './stage'

const stage = useStage()
const run = promisify(execFile)

/** A picture of 2 × 2 pixels. */
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGP8z8DAwMDAxAADCBYDAwMAG0gBBX2uXYMAAAAASUVORK5CYII=',
  'base64',
)

// OC-05, OC-07: the files of the project are looked at and asked about without a mouse.
test('the panel Files marks what changed, shows pictures and documents, and mentions a file, by keyboard only', async () => {
  const host = (stage.host = await startHost({
    files: {
      'go.mod': 'module shop\n',
      'cart.go': 'package shop\n\n// ShoppingCart has goods.\ntype ShoppingCart struct{}\n',
      'docs/guide.md': '# The guide\n\nRead **this** first.\n',
    },
  }))
  const git = (...args: string[]) => run('git', args, { cwd: host.folder })
  await git('init', '-q')
  await git('add', '.')
  await git('-c', 'user.name=T', '-c', 'user.email=t@e.st', 'commit', '-qm', 'first')
  await writeFile(
    join(host.folder, 'cart.go'),
    'package shop\n\ntype ShoppingCart struct{ n int }\n',
  )
  await writeFile(join(host.folder, 'logo.png'), picture)
  const { page, offences } = await openPage(stage.browser, host.url)
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await openPanelByKey(page, 'Files')
  const files = panelOf(page, 'Files')
  await files.getByRole('button', { name: 'cart.go modified' }).waitFor()
  await files.getByRole('button', { name: 'logo.png new, not tracked by git' }).waitFor()
  await shot(page, 'files-tree')
  // What others write is shown as it happens, also in a folder that was opened.
  await pressIn(files, files.getByRole('button', { name: 'docs' }))
  await writeFile(join(host.folder, 'docs', 'later.md'), '# Later')
  await files.getByRole('button', { name: 'later.md new, not tracked by git' }).waitFor()
  await rm(join(host.folder, 'docs', 'later.md'))
  await files.getByRole('button', { name: /^later\.md/ }).waitFor({ state: 'detached' })
  await pressIn(files, files.getByRole('button', { name: 'docs' }))
  expect(await violations(page)).toEqual([])

  await pressIn(files, files.getByRole('button', { name: /^logo\.png/ }))
  await files.getByRole('img', { name: 'logo.png' }).waitFor()
  await shot(page, 'files-picture')
  expect(await violations(page)).toEqual([])
  await pressIn(files, files.getByRole('button', { name: 'All files' }))
  await pressIn(files, files.getByRole('button', { name: 'docs' }))
  await pressIn(files, files.getByRole('button', { name: 'guide.md' }))
  await files.getByRole('heading', { name: 'The guide' }).waitFor()
  await page.emulateMedia({ colorScheme: 'dark' })
  await shot(page, 'files-document-dark')
  expect(await violations(page)).toEqual([])
  await pressIn(files, files.getByRole('button', { name: 'Mention docs/guide.md in the message' }))
  const field = page.getByRole('textbox', { name: 'Message' })
  await expect.poll(() => field.inputValue()).toBe('@docs/guide.md')

  // A symbol is mentioned by the line that defines it.
  await page.keyboard.press('Control+a')
  await page.keyboard.type('Explain @Shopping')
  await page.getByRole('option', { name: /ShoppingCart/ }).waitFor()
  await shot(page, 'mention-symbol-dark')
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect.poll(() => field.inputValue()).toBe('Explain @cart.go#L3 ')
  await page.keyboard.press('Control+k')
  await page.keyboard.type(':shopping')
  await page.getByRole('option', { name: /ShoppingCart/ }).waitFor()
  await page.keyboard.press('Enter')
  await files.getByText('type ShoppingCart', { exact: false }).first().waitFor()
  expect(offences).toEqual([])
})
