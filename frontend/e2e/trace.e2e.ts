import { expect, test } from 'vitest'
import { answerByKey, openPage, openPanelByKey, panelOf, prompt, shots, untilRest } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

// COM-91: what took the time of a turn, while it works and afterwards, and how long a person was waited for.
test('a turn is shown as a waterfall', async () => {
  const model = (stage.model = await startModel([
    { calls: [{ name: 'Bash', input: { command: 'touch made.txt' } }] },
    { text: 'Made.' },
  ]))
  const host = (stage.host = await startHost({ env: { COMPAT_BASE_URL: model.url } }))
  const { page, offences } = await openPage(stage.browser, host.url)
  const panel = panelOf(page, 'Time')
  await prompt(page, 'Make it')
  await openPanelByKey(page, 'Time')
  const wait = panel.getByRole('listitem').filter({ hasText: 'Your answer' })
  await wait.getByText('running').waitFor()
  await answerByKey(page)
  await untilRest(page)
  await expect.poll(() => panel.getByText('running').count()).toBe(0)
  const rows = await panel.getByRole('listitem').allInnerTexts()
  expect(rows.map((row) => row.split('\n')[0]!.trim())).toEqual([
    'scripted-1',
    'Bash',
    'Your answer',
    'scripted-1',
  ])
  await panel.getByText(/waited for you/).waitFor()
  await shots(page, 'trace')
  expect(offences).toEqual([])
})
