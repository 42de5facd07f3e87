import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { answer, openPage, prompt, resting, shot, shots } from './browser'
import { startHost } from './host'
import { startModel, type Round } from './model'
import { useStage } from './stage'

const stage = useStage()

async function start(rounds: Round[]) {
  const model = (stage.model = await startModel(rounds))
  const host = (stage.host = await startHost({
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  return { host, model, ...(await openPage(stage.browser, host.url)) }
}

const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true })
const queue = (page: Page) => page.getByRole('region', { name: 'Queued messages' })
const card = (page: Page, text: string) =>
  queue(page).getByRole('listitem').filter({ hasText: text })
const waiting = (page: Page) => queue(page).locator('li .text').allInnerTexts()
const allow = (page: Page) => answer(page.locator('[data-approval]'))

async function follow(page: Page, text: string): Promise<void> {
  await expect.poll(() => field(page).inputValue()).toBe('') // what was sent before is accepted
  await field(page).fill(text)
  await field(page).press('Control+Enter')
  await card(page, text).waitFor()
}

/** A command that ends when the test says so. */
const until = (file: string) => ({
  name: 'Bash',
  input: { command: `until [ -e ${file} ]; do sleep 0.05; done` },
})

// LOOP-14, LOOP-15, LOOP-132, LOOP-133
test('messages steer and follow a turn, wait as cards, and outlive a stop, a reload and a crash', async () => {
  const {
    page,
    offences,
    host: first,
    model,
  } = await start([
    { text: 'I build it.', calls: [until('built')] },
    { text: 'With short names, then.' },
    { text: 'The docs, next.', calls: [until('never')] },
    { text: 'Tested.' },
  ])
  await prompt(page, 'Build the shop')
  await allow(page)
  await page.getByRole('button', { name: /details of Bash until/ }).waitFor()

  // Enter steers, Ctrl+Enter follows up. Both buttons are beside Stop.
  await field(page).fill('Use short names')
  await shot(page, 'queue-verbs')
  await field(page).press('Enter')
  await card(page, 'Use short names').getByText('after the tools that run now').waitFor()
  await follow(page, 'Write the tests')
  await follow(
    page,
    'Then write the docs, with an example for every command that a person can type',
  )
  await card(page, 'Write the tests').getByText('next, when the agent is done').waitFor()
  await card(page, 'Then write the docs').getByText('then', { exact: true }).waitFor()
  await expect.poll(() => field(page).inputValue()).toBe('')

  const second = await openPage(stage.browser, `${new URL('/', first.url)}`, {
    storageState: await page.context().storageState(),
  })
  await card(second.page, 'Write the tests').waitFor()

  // Editing in place: Escape cancels the edit and does not stop the turn.
  await page.getByRole('button', { name: 'Edit: Write the tests' }).click()
  const edit = queue(page).getByRole('textbox', { name: 'Queued message' })
  await edit.fill('Never mind')
  await edit.press('Escape')
  await page.getByRole('button', { name: 'Edit: Write the tests' }).click()
  await edit.fill('Write two tests')
  await shots(page, 'queue-edit')
  await edit.press('Enter')
  await card(page, 'Write two tests').waitFor()
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
  await expect.poll(focused).toBe('Edit: Write two tests') // once it is saved

  // Reordering with the keyboard, then with the pointer.
  await page.getByRole('button', { name: /^Move: Then write/ }).focus()
  await page.keyboard.press('ArrowUp')
  const docs = 'Then write the docs, with an example for every command that a person can type'
  await card(page, docs).getByText('next, when the agent is done').waitFor()
  await expect.poll(() => waiting(page)).toEqual(['Use short names', docs, 'Write two tests'])
  await expect.poll(focused).toMatch(/^Move: Then write/)
  const mover = page.getByRole('button', { name: 'Move: Write two tests', exact: true })
  await resting(mover)
  const grip = await mover.boundingBox()
  await page.mouse.move(grip!.x + 8, grip!.y + 8)
  await page.mouse.down()
  await page.mouse.move(grip!.x + 8, grip!.y - 140, { steps: 8 })
  await shot(page, 'queue-drag')
  await page.mouse.up()
  await expect.poll(() => waiting(page)).toEqual(['Write two tests', 'Use short names', docs])
  await mover.press('ArrowDown')
  await expect.poll(() => waiting(page)).toEqual(['Use short names', 'Write two tests', docs])
  await mover.press('ArrowDown')
  await expect.poll(() => waiting(page)).toEqual(['Use short names', docs, 'Write two tests'])

  // A second page follows what it did not change itself.
  await expect
    .poll(() => waiting(second.page))
    .toEqual(['Use short names', docs, 'Write two tests'])
  expect(second.offences).toEqual([])
  await second.page.close()

  // Removing, and undoing that.
  await follow(page, 'Sing a song')
  await page.getByRole('button', { name: 'Remove: Sing a song' }).click()
  await queue(page).getByText('Removed from the queue.').waitFor()
  await shot(page, 'queue-removed')
  await queue(page).getByRole('button', { name: 'Undo' }).click()
  await expect.poll(() => field(page).inputValue()).toBe('Sing a song')
  await field(page).fill('')

  await page.reload()
  await card(page, 'Write two tests').waitFor()
  await expect.poll(() => waiting(page)).toEqual(['Use short names', docs, 'Write two tests'])
  await shots(page, 'queue-cards')

  // Delivery: steering messages within the turn, then follow-ups.
  await writeFile(join(first.folder, 'built'), '')
  await page.getByText('steered', { exact: true }).waitFor()
  await page.getByText('With short names, then.').waitFor()
  expect(model.heard[1]).toContain('Use short names')
  await allow(page)
  await expect.poll(() => waiting(page)).toEqual(['Write two tests'])
  expect(model.heard[2]).toContain('write the docs')

  // The stop button says what will be kept, and the end of the turn what was kept.
  const stop = page.getByRole('button', { name: 'Stop' })
  await stop.hover()
  await page.locator('.ui-tooltip').getByText('1 queued message waits.').waitFor()
  await shots(page, 'queue-stop')
  await stop.click()
  await page.getByText('Stopped. What was said and done is kept. 1 queued message waits.').waitFor()
  await card(page, 'Write two tests').getByText('waits: the turn was stopped').waitFor()
  await page.mouse.move(0, 0)
  await shots(page, 'queue-stopped')

  expect(offences).toEqual([])
  await first.stop('SIGKILL')
  const host = (stage.host = await startHost({ from: first, env: { COMPAT_BASE_URL: model.url } }))
  const again = await openPage(stage.browser, host.url)
  await card(again.page, 'Write two tests').getByRole('button', { name: 'Send now' }).click()
  await again.page.getByText('Tested.').waitFor()
  expect(model.heard[3]).toContain('Write two tests')
  await queue(again.page).waitFor({ state: 'detached' })
  expect(again.offences).toEqual([])
})

test('the queue in Chinese', async () => {
  const { page, offences } = await start([{ calls: [until('never')] }])
  await prompt(page, 'Build the shop')
  await allow(page)
  await page.keyboard.press('Control+,')
  await page.getByRole('tab', { name: 'Appearance' }).click()
  await page.getByRole('radio', { name: '简体中文' }).click()
  await page.keyboard.press('Escape')
  const message = page.getByRole('textbox', { name: '消息', exact: true })
  await message.fill('名字要短')
  await message.press('Enter')
  await page.getByText('在当前运行的工具之后').first().waitFor()
  await expect.poll(() => message.inputValue()).toBe('')
  await message.fill('然后写测试')
  await message.press('Control+Enter')
  await page.getByText('下一条，智能体完成后发送').waitFor()
  await shot(page, 'queue-zh')
  expect(offences).toEqual([])
})

test('thinking is one line that grows in place, and unfolds without moving', async () => {
  let answer = () => {}
  const rest = new Promise<void>((resolve) => (answer = resolve))
  const thought = Array.from({ length: 40 }, (_, n) => `Thought ${n} of the shop.`).join('\n')
  const { page, offences } = await start([
    { reasoning: thought, rest, text: 'I thought about it.' },
  ])
  await prompt(page, 'Think')
  const line = page.getByRole('button', { name: /^Thinking · \d+ s$/ })
  await line.waitFor()
  await page.getByText('Thought 39 of the shop.').waitFor()
  await shots(page, 'thinking')
  answer()
  await page.getByText('I thought about it.').waitFor()
  const done = page.getByRole('button', { name: /^Thought for / })
  // The end of the turn adds a line, and the list then follows its end.
  await page.getByRole('button', { name: /^Stop/ }).waitFor({ state: 'detached' })
  const before = await resting(done)
  await done.click()
  await page.getByText('Thought 0 of the shop.').waitFor()
  // The list measures its content one frame later.
  expect(await resting(done)).toBe(before)
  await shot(page, 'thinking-open')
  await page.reload()
  await page.getByRole('button', { name: /^Thought for /, expanded: false }).waitFor()
  expect(offences).toEqual([])
})
