import { expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, pressIn, shots, untilRest } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

// OC-07: files are completed after an at sign, and sent with the message.
test('a file is named in a message and sent with it, by keyboard only', async () => {
  const model = (stage.model = await startModel([
    { text: 'With a lock.' },
    { text: 'As it was said.' },
  ]))
  const host = (stage.host = await startHost({
    files: { 'src/login.go': 'package login // guarded\n', 'docs/two words.md': 'Words.\n' },
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  const { keyboard } = page
  const field = page.getByRole('textbox', { name: 'Message', exact: true })

  await field.pressSequentially('Compare @two')
  await page.getByRole('option', { name: 'two words.md docs/', selected: true }).waitFor()
  await shots(page, 'mention-menu')
  expect(await violations(page)).toEqual([])
  await keyboard.press('Enter')
  await expect.poll(() => field.inputValue()).toBe('Compare @"docs/two words.md" ')
  await keyboard.type('with @log')
  await page.getByRole('option', { name: 'login.go src/', selected: true }).waitFor()
  await keyboard.press('Tab')
  const typed = 'Compare @"docs/two words.md" with @src/login.go'
  await expect.poll(() => field.inputValue()).toBe(`${typed} `)
  await keyboard.press('Enter')

  await page.getByText('With a lock.').waitFor()
  await untilRest(page)
  expect(model.heard[0]).toContain('package login // guarded')
  expect(model.heard[0]).toContain('Words.')
  const row = page.getByRole('log').locator('.prompt')
  await row.getByText(typed).waitFor()
  await pressIn(
    page.getByRole('log').first(),
    row.getByRole('button', { name: 'The prompt that was sent' }),
  )
  await row.getByText('The file src/login.go').waitFor()
  await shots(page, 'mention-sent')

  // Another session is mentioned by its title, and the model is told what was said in it.
  await keyboard.press('Alt+n')
  await page.getByRole('heading', { name: /^What shall we work on/ }).waitFor()
  await field.pressSequentially('Go on as in @comp')
  await page.getByRole('option', { name: /^Compare .* session$/ }).waitFor()
  await keyboard.press('ArrowDown')
  await shots(page, 'mention-session')
  await keyboard.press('Tab')
  await expect
    .poll(() => field.inputValue())
    .toMatch(/^Go on as in @"session:Compare .*#[0-9A-Z]{26}" $/)
  await keyboard.press('Enter')
  await page.getByText('As it was said.').waitFor()
  expect(model.heard[1]).toMatch(/The session \\?"Compare [^]*Agent: With a lock\./)
  expect(offences).toEqual([])
})
