import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, pressIn, prompt, shots, untilRest } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

const skill = `---
name: review
description: Reviews changes. Use when somebody asks for a review.
aliases: [rv]
argument-hint: "[range]"
allowed-tools: Bash, Read, Glob, Grep
---
Look at every change in $ARGUMENTS with care.
`

// OAS-814, OAS-816: what a skill does not allow is refused, whatever the model does.
test('a skill is completed and run, limits the agent, and ends with the next message, by keyboard only', async () => {
  let goOn = () => {}
  const rest = new Promise<void>((resolve) => (goOn = resolve))
  const model = (stage.model = await startModel([
    { calls: [{ name: 'Write', input: { file_path: 'review.md', content: 'No.' } }] },
    { reasoning: 'It is refused.', rest, text: 'Two things are wrong.' },
    { text: 'You are welcome.' },
  ]))
  const host = (stage.host = await startHost({
    files: { '.agent/skills/review/SKILL.md': skill },
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  const { keyboard } = page
  const field = page.getByRole('textbox', { name: 'Message', exact: true })

  await field.pressSequentially('/rev')
  await page.getByRole('option', { name: '/review [range]', selected: true }).waitFor()
  await shots(page, 'skill-menu')
  await keyboard.press('Tab')
  await expect.poll(() => field.inputValue()).toBe('/review ')
  await keyboard.type('main "and more')
  await page.getByText('[range]').waitFor()
  expect(await violations(page)).toEqual([])
  await keyboard.press('Enter')

  const row = page.getByRole('log').locator('.prompt')
  await row.getByText('/review main "and more').waitFor()
  const line = page.getByText('review is in use: only Bash, Read, Glob, Grep')
  await line.waitFor()

  // A skill waits until the agent is done, and is edited where it was typed.
  await field.fill('/rv tests')
  await page.getByText('A skill does not steer.').first().waitFor()
  await keyboard.press('Enter')
  const queue = page.getByRole('region', { name: 'Queued messages' })
  await queue.getByText('Skill review, follows up').waitFor()
  await shots(page, 'skill-working')
  await pressIn(queue, queue.getByRole('button', { name: 'Edit: /rv tests' }))
  await expect.poll(() => field.inputValue()).toBe('/rv tests')
  await field.fill('')

  goOn()
  await page.getByText('Two things are wrong.').waitFor()
  await untilRest(page)
  const log = page.getByRole('log')
  await log.getByText('Denied: the skill review does not allow this tool.').waitFor()
  await expect(access(join(host.folder, 'review.md'))).rejects.toThrow()
  expect(model.heard[0]).toContain('Look at every change in main')
  await pressIn(log, row.getByRole('button', { name: 'The prompt that was sent' }))
  await row.getByText('Look at every change in main "and more with care.').waitFor()
  expect(await violations(page)).toEqual([])
  await shots(page, 'skill-done')

  await line.waitFor()
  await prompt(page, 'Thanks')
  await page.getByText('You are welcome.').waitFor()
  await line.waitFor({ state: 'detached' })
  expect(offences).toEqual([])
})
