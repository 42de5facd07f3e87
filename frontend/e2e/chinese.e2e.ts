import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { answer, openPage, shot, shots, untilFocused, untilRest } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

test('a Chinese page reports failures and invalid forms in Chinese', async () => {
  const model = (stage.model = await startModel([{ status: 429, retryAfter: 3700 }]))
  const host = (stage.host = await startHost({ env: { COMPAT_BASE_URL: model.url } }))
  const { page, offences } = await openPage(stage.browser, host.url, { locale: 'zh-CN' })
  const field = page.getByRole('textbox', { name: '消息' })
  await field.fill('修复登录')
  await field.press('Enter')
  const failed = page.getByRole('alert')
  await failed.getByText('请求过于频繁，服务商暂时拒绝。').waitFor()
  expect(await failed.innerText()).toContain(
    '到这里为止的内容都已保存。服务商要求等待 1 小时 1 分 40 秒。请在此之后重试，或选择其他模型。',
  )
  await shots(page, 'chinese-failed')

  await page.keyboard.press('Control+,')
  const settings = page.getByRole('dialog', { name: '设置' })
  await settings.waitFor()
  await shot(page, 'chinese-keys')
  const panel = settings.getByRole('region', { name: '自定义端点' })
  await panel.getByRole('button', { name: '添加端点' }).click()
  await untilFocused(panel.getByRole('textbox').first())
  await page.keyboard.type('House')
  await panel.getByLabel('地址').fill('ftp://house/v1')
  await page.keyboard.press('Enter')
  await panel.getByText('这不是 http 或 https 地址。').waitFor()
  const isInSight = (alert: Element) => {
    const { left, top, width, height } = alert.getBoundingClientRect()
    const there = document.elementFromPoint(left + width / 2, top + height / 2)
    return there !== null && alert.contains(there)
  }
  await expect.poll(() => panel.getByRole('alert').evaluate(isInSight)).toBe(true)
  await shots(page, 'chinese-refused')
  await settings.getByRole('tab', { name: '模型' }).click()
  await shot(page, 'chinese-models')
  expect(offences).toEqual([])
})

/** Lines of the page with Chinese words and the punctuation of English, or with a gap after that of Chinese. */
const oddLines = async (page: Page) =>
  (await page.locator('body').innerText())
    .split('\n')
    .filter((line) =>
      /\p{Script=Han}[,.;:!?]|\p{Script=Han}.*[,:] |[，。：；、]\s+[^\s·]/u.test(line),
    )

test('questions, what ran and lists of names have Chinese punctuation', async () => {
  const input = { command: 'touch made.txt', description: 'Make a file' }
  const model = (stage.model = await startModel([
    { calls: [{ name: 'Bash', input }] },
    { text: '好了。' },
  ]))
  const host = (stage.host = await startHost({ env: { COMPAT_BASE_URL: model.url } }))
  const { page, offences } = await openPage(stage.browser, host.url, { locale: 'zh-CN' })
  const field = page.getByRole('textbox', { name: '消息' })
  await field.fill('创建文件')
  await field.press('Enter')
  const question = page.getByRole('region', { name: '等你决定：Bash' })
  await question.getByText('智能体的说法：').waitFor()
  expect(await oddLines(page)).toEqual([])
  await shots(page, 'chinese-question')
  await answer(question, '允许')
  await untilRest(page)
  const rail = page.getByRole('navigation', { name: '面板' })
  await rail.getByRole('button', { name: '权限' }).click()
  await page.locator('aside').getByText('你允许了这一次').waitFor()
  expect(await oddLines(page)).toEqual([])
  await rail.getByRole('button', { name: '技能' }).click()
  await page.locator('aside').getByText('文件夹中没有以下任何一个：').waitFor()
  expect(await oddLines(page)).toEqual([])
  await shots(page, 'chinese-lists')
  expect(offences).toEqual([])
})
