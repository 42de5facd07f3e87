import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { answerByKey, openPage, pressIn, prompt, shot, tabTo, untilRest } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

const lines = (changes: Record<number, string> = {}) =>
  Array.from({ length: 24 }, (_, at) => `${changes[at] ?? `line ${at}`}\n`).join('')

/** Light and dark. */
async function both(page: Page, name: string) {
  await shot(page, name)
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
  await shot(page, `${name}-dark`)
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
}

test('OC-09: a turn is undone and redone by keyboard only, and what was changed by hand stays', async () => {
  const model = (stage.model = await startModel([
    {
      calls: [
        { name: 'Read', input: { file_path: 'list.txt' } },
        {
          name: 'Edit',
          input: { file_path: 'list.txt', old_string: 'line 2\n', new_string: 'edited 2\n' },
        },
      ],
    },
    { calls: [{ name: 'Bash', input: { command: "sed -i 's/^line 12$/sed 12/' list.txt" } }] },
    { text: 'Both are changed.' },
  ]))
  const host = (stage.host = await startHost({
    files: { 'list.txt': lines() },
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  const { keyboard } = page
  const list = join(host.folder, 'list.txt')
  const dialog = page.getByRole('dialog')
  const hasFocus = (name: string) =>
    expect
      .poll(() => page.evaluate(() => document.activeElement?.textContent?.trim() ?? ''))
      .toBe(name)
  const isUndone = (words: string) => page.getByText(words, { exact: true }).waitFor()

  await prompt(page, 'Change it')
  await answerByKey(page)
  await page
    .locator('[data-approval]')
    .getByText(/sed -i/)
    .first()
    .waitFor()
  await answerByKey(page)
  await page.getByText('Both are changed.').waitFor()
  await untilRest(page)
  await expect.poll(() => readFile(list, 'utf8')).toBe(lines({ 2: 'edited 2', 12: 'sed 12' }))
  const before = lines({ 2: 'edited 2', 12: 'sed 12', 20: 'mine 20' })
  await writeFile(list, before)

  await prompt(page, '/undo')
  await hasFocus('Undo 1 file')
  await dialog.getByText('What would change').waitFor()
  expect(await violations(page)).toEqual([])
  await both(page, 'undo')
  await keyboard.press('Enter')
  await isUndone('Undone: 1 file of turn 1')
  expect(await readFile(list, 'utf8')).toBe(lines({ 20: 'mine 20' }))
  await dialog.waitFor({ state: 'hidden' })
  await both(page, 'undone')

  await pressIn(
    page.getByRole('region', { name: 'Conversation' }),
    page.getByRole('button', { name: 'Redo…' }),
  )
  await hasFocus('Redo 1 file')
  await keyboard.press('Enter')
  await isUndone('Redone: 1 file')
  expect(await readFile(list, 'utf8')).toBe(before)
  await page.getByRole('button', { name: 'Redo…' }).waitFor({ state: 'hidden' })
  await dialog.waitFor({ state: 'detached' })

  // A line that both changed stays, and the rest is restored only if that is chosen.
  const mine = lines({ 2: 'mine 2', 12: 'sed 12', 20: 'mine 20' })
  await writeFile(list, mine)
  await prompt(page, '/undo')
  await hasFocus('Cancel')
  await dialog.getByText('1 place was changed since, and stays as it is.').waitFor()
  expect(await violations(page)).toEqual([])
  await both(page, 'undo-conflict')
  await tabTo(dialog.getByRole('checkbox', { name: /Restore the rest/ }))
  await keyboard.press('Space')
  await tabTo(dialog.getByRole('button', { name: 'Undo 1 file' }))
  await keyboard.press('Enter')
  await page.getByText('1 file had a conflict; that part was left as it is.').waitFor()
  expect(await readFile(list, 'utf8')).toBe(lines({ 2: 'mine 2', 20: 'mine 20' }))
  expect(offences).toEqual([])
})

test('OC-09: an earlier message is edited and sent in its place by keyboard only, and comes back', async () => {
  const model = (stage.model = await startModel([
    { text: 'Ready.' },
    {
      calls: [
        { name: 'Read', input: { file_path: 'list.txt' } },
        {
          name: 'Edit',
          input: { file_path: 'list.txt', old_string: 'line 2\n', new_string: 'edited 2\n' },
        },
      ],
    },
    { text: 'It is changed.' },
    (asked) => ({ text: asked.includes('It is changed.') ? 'It goes on.' : 'It is better.' }),
  ]))
  const host = (stage.host = await startHost({
    files: { 'list.txt': lines() },
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  const { keyboard } = page
  const dialog = page.getByRole('dialog')
  const focused = () =>
    expect.poll(() =>
      page.evaluate(() => {
        const it = document.activeElement
        return it?.getAttribute('aria-label') ?? it?.textContent?.trim()
      }),
    )
  const rests = () => page.getByRole('button', { name: 'Send' }).waitFor()
  await prompt(page, 'Hello')
  await page.getByText('Ready.').waitFor()
  await rests()
  await prompt(page, 'Change it')
  await answerByKey(page)
  await page.getByText('It is changed.').waitFor()
  await rests()

  await keyboard.press('Alt+ArrowUp')
  await focused().not.toBe('Message')
  await keyboard.press('Home')
  await focused().toBe('Your message: Hello')
  await keyboard.press('e')
  await focused().toBe('Message')
  await page.getByText(/^You are editing an earlier message/).waitFor()
  const field = page.getByRole('textbox', { name: 'Message', exact: true })
  await expect.poll(() => field.inputValue()).toBe('Hello')
  await keyboard.press('End')
  await keyboard.type(' well')
  expect(await violations(page)).toEqual([])
  await both(page, 'edit-earlier')
  await keyboard.press('Enter')
  await focused().toBe('Send')
  await dialog.getByRole('radio', { name: 'Conversation only', checked: true }).waitFor()
  expect(await violations(page)).toEqual([])
  await both(page, 'edit-resend')
  await keyboard.press('Enter')
  await page.getByText('It is better.').waitFor()
  await rests()
  await page.getByText('2 turns were rewound.').waitFor()
  await focused().toBe('Message')
  await both(page, 'edit-resent')
  await page.getByText('It is changed.').waitFor({ state: 'detached' })
  expect(model.heard.at(-1)).toContain('Hello well')
  expect(await readFile(join(host.folder, 'list.txt'), 'utf8')).toBe(lines({ 2: 'edited 2' }))

  // Once what followed is taken back, it comes back like after any rewind.
  await prompt(page, '/rewind')
  await tabTo(dialog.getByRole('button', { name: 'Rewind' }))
  await keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await pressIn(
    page.getByRole('region', { name: 'Conversation' }),
    page.getByRole('button', { name: 'Bring back' }).first(),
  )
  await page.getByText('It is changed.').waitFor()
  expect(offences).toEqual([])
})
