import { expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, shot } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

/** Puts a drawing of a size on the clipboard, as a screenshot tool does, and pastes it into the field. */
const paste = (size: number) => `(async () => {
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = ${size}
  const paint = canvas.getContext('2d')
  paint.fillStyle = '#264'
  paint.fillRect(0, 0, ${size}, ${size})
  paint.fillStyle = '#fd6'
  paint.fillRect(${size} / 4, ${size} / 4, ${size} / 2, ${size} / 2)
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, 'image/png'))
  const data = new DataTransfer()
  data.items.add(new File([blob], 'image.png', { type: 'image/png' }))
  document.activeElement.dispatchEvent(
    new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }),
  )
})()`

// OC-07: what is pasted goes with the message, survives a reload, and is seen in the conversation.
test('pictures and long texts are pasted, sent and shown, by keyboard only', async () => {
  const model = (stage.model = await startModel([{ text: 'A yellow square.' }]))
  const host = (stage.host = await startHost({
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  const field = page.getByRole('textbox', { name: 'Message' })
  const files = page.getByRole('list', { name: 'Attached files' })
  await field.focus()
  await page.evaluate(paste(300))
  await files.getByRole('img', { includeHidden: true }).waitFor()
  await page.keyboard.type('What is in it?')
  await page.reload()
  await files.getByText('image.png').waitFor()
  expect(await field.inputValue()).toBe('What is in it?')

  await field.focus()
  await page.evaluate(paste(2600))
  await expect.poll(() => files.getByRole('listitem').count()).toBe(2)
  await page.evaluate(`(() => {
    const data = new DataTransfer()
    data.setData('text/plain', 'warning: unused\\n'.repeat(500))
    document.activeElement.dispatchEvent(
      new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }),
    )
  })()`)
  await files.getByRole('button', { name: 'pasted text.txt', exact: true }).waitFor()
  await shot(page, 'attached')
  expect(await violations(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize({ width: 900, height: 700 })
  await shot(page, 'attached-dark-900')
  expect(await violations(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'light' })

  await field.focus()
  await page.keyboard.press('Enter')
  await page.getByText('A yellow square.').waitFor()
  await expect.poll(() => page.getByRole('button', { name: /at full size$/ }).count()).toBe(2)
  expect(await files.count()).toBe(1) // that of the message
  await shot(page, 'attached-sent')
  expect(await violations(page)).toEqual([])
  const sent = model.heard[0] ?? ''
  expect(sent.match(/data:image\/png;base64,/g)).toHaveLength(2)
  expect(sent).toContain('warning: unused')
  expect(offences).toEqual([])
})
