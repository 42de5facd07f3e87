import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { openPage, shots } from './browser'
import { startHost } from './host'
import { useStage } from './stage'

const stage = useStage()

const isSignedOut = 'This page is not signed in.'

test('another port of this machine gets no credential and cannot open the WebSocket', async () => {
  const host = (stage.host = await startHost())
  const { page } = await openPage(stage.browser, host.url)
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  expect(page.url()).toBe(`${new URL('/', host.url)}`)
  expect(await page.context().cookies()).toEqual([])

  const requests: IncomingMessage[] = []
  const other = createServer((request, response) => {
    requests.push(request)
    response.setHeader('Content-Type', 'text/html')
    response.end('<!doctype html><title>Another server</title>')
  })
  other.listen(0, '127.0.0.1')
  await once(other, 'listening')
  try {
    const visited = await page.context().newPage()
    await visited.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`)
    for (const { headers } of requests) {
      expect(headers).not.toHaveProperty('cookie')
      // The request of an icon by that page may name the page itself as its referrer.
      expect(headers.referer ?? '').not.toContain(new URL(host.url).host)
    }
    expect(await visited.evaluate(() => ({ ...localStorage, ...sessionStorage }))).toEqual({})
    const { host: address } = new URL(host.url)
    const opened = (path: string) =>
      visited.evaluate(
        (url) =>
          new Promise((resolve) => {
            const socket = new WebSocket(url)
            socket.onopen = () => resolve('open')
            socket.onerror = () => resolve('refused')
          }),
        `ws://${address}${path}`,
      )
    expect(await opened('/ws')).toBe('refused')
    const exchanged = (mode: RequestMode) =>
      visited.evaluate(
        async ([url, how]) => {
          try {
            const answer = await fetch(url!, {
              method: 'POST',
              mode: how as RequestMode,
              body: '{"token":"guess"}',
            })
            return await answer.text()
          } catch {
            return 'refused'
          }
        },
        [`http://${address}/session`, mode],
      )
    expect(await exchanged('cors')).toBe('refused')
    expect(await exchanged('no-cors')).toBe('refused')
  } finally {
    other.close()
    other.closeAllConnections()
  }
})

test('a second tab is signed in by the first one, another browser is not', async () => {
  const host = (stage.host = await startHost())
  const { page } = await openPage(stage.browser, host.url)
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  for (const address of [new URL('/', host.url).href, host.url]) {
    const tab = await page.context().newPage()
    await tab.goto(address)
    await tab.getByRole('textbox', { name: 'Message' }).waitFor()
  }
  const stranger = await openPage(stage.browser, new URL('/', host.url).href)
  await stranger.page.getByRole('heading', { name: isSignedOut }).waitFor()
  await shots(stranger.page, 'access-signed-out')
  const second = await openPage(stage.browser, host.url)
  await second.page.getByRole('heading', { name: 'This link no longer works.' }).waitFor()
  expect([...stranger.offences, ...second.offences.filter((o) => !o.includes('401'))]).toEqual([])
})

test('a page outlives a restart: it says so, keeps the draft and takes the new address', async () => {
  const first = (stage.host = await startHost())
  const { port } = new URL(first.url)
  const { page } = await openPage(stage.browser, first.url)
  await page.getByRole('textbox', { name: 'Message' }).fill('Not sent yet')
  const tab = await page.context().newPage()
  await tab.goto(new URL('/', first.url).href)
  await tab.getByRole('textbox', { name: 'Message' }).waitFor()
  await first.stop()
  await page.getByText('The connection was lost. Reconnecting…').waitFor()

  const host = (stage.host = await startHost({ from: first, port }))
  await page.getByRole('heading', { name: 'Atelier was restarted.' }).waitFor()
  await tab.getByRole('heading', { name: 'Atelier was restarted.' }).waitFor()
  await shots(page, 'access-restarted')
  const field = page.getByLabel('Printed address')
  await field.fill('http://example.com/')
  await field.press('Enter')
  await page.getByText('This is not an address that Atelier printed.').waitFor()
  await shots(page, 'access-invalid')
  await field.fill(host.url)
  await field.press('Enter')
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('Not sent yet')
  // The other tab needs no address of its own.
  await tab.getByRole('textbox', { name: 'Message' }).waitFor()
})
