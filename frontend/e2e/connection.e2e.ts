import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { openPage, prompt, untilRest } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

/** A relay like an SSH forward, whose open connections can be made to forward nothing more without being closed. */
async function startRelay(target: number) {
  const ways: { end: () => void; silence: (both: boolean) => void }[] = []
  const server = createServer((near: Socket) => {
    const far = connect(target, '127.0.0.1')
    let [isDeaf, isMute] = [false, false]
    near.on('data', (bytes) => isDeaf || far.write(bytes))
    far.on('data', (bytes) => isMute || near.write(bytes))
    const end = () => [near, far].forEach((socket) => socket.destroy())
    for (const socket of [near, far]) socket.on('error', end).on('close', end)
    const silence = (both: boolean) => ([isDeaf, isMute] = [both, true])
    ways.push({ end, silence })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    silence: (both: boolean) => ways.forEach((way) => way.silence(both)),
    stop: () => {
      ways.forEach((way) => way.end())
      server.close()
    },
  }
}

test.each([
  ['in both directions', true],
  ['towards the page', false],
])('a connection that dies %s mends itself, and what was sent arrives once', async (_, both) => {
  const model = (stage.model = await startModel([{ text: 'One.' }, { text: 'Two.' }]))
  const host = (stage.host = await startHost({
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const url = new URL(host.url)
  const relay = await startRelay(Number(url.port))
  try {
    url.port = `${relay.port}`
    const { page, offences } = await openPage(stage.browser, url.href)
    await prompt(page, 'First')
    await page.getByText('One.').waitFor()
    await untilRest(page)

    relay.silence(both)
    await prompt(page, 'Second')
    const begin = Date.now()
    if (both) await page.evaluate(() => dispatchEvent(new Event('online')))
    await page.getByText('Two.').waitFor({ timeout: 30_000 })
    expect(Date.now() - begin).toBeLessThan(both ? 15_000 : 30_000)
    await untilRest(page)
    expect(model.heard.filter((it) => it.includes('Second'))).toHaveLength(1)
    expect(await page.getByRole('log').getByText('Second', { exact: true }).count()).toBe(1)
    expect(await page.getByRole('textbox', { name: 'Message', exact: true }).inputValue()).toBe('')
    expect(offences).toEqual([])
  } finally {
    relay.stop()
  }
})

test('unsent text survives a new server on another port', async () => {
  const first = (stage.host = await startHost())
  const { page } = await openPage(stage.browser, first.url)
  const field = page.getByRole('textbox', { name: 'Message', exact: true })
  await field.fill('a long message')
  await field.fill('a long message, typed on')
  // Soon after, the application has it.
  await page.waitForFunction(
    () => !Object.keys(localStorage).some((key) => key.startsWith('atelier.unsaved:')),
  )
  await page.context().close()
  await first.stop()
  const second = (stage.host = await startHost({ from: first }))
  expect(new URL(second.url).port).not.toBe(new URL(first.url).port)
  const later = await openPage(stage.browser, second.url)
  const again = later.page.getByRole('textbox', { name: 'Message', exact: true })
  await expect.poll(() => again.inputValue()).toBe('a long message, typed on')
  expect(later.offences).toEqual([])
})
