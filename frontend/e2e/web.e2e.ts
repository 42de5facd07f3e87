import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, prompt, shots, unfoldTurn, untilArmed } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()
const sites: Server[] = []
afterEach(() => {
  for (const site of sites.splice(0)) site.close()
})

const manual = `<!doctype html><html><head><title>The manual of rows</title></head><body>
<nav><a href="/">Home</a></nav><article><h1>Rows</h1>
<p>A row is stored before it is shown, so that nothing is lost when the power goes, and nobody sees what is not there.</p>
<p>Rows are read in their order, which is the order in which they were written, and each has a number that never changes.</p>
<p>See <a href="/deleting">how rows are deleted</a>, <a href="https://other.example/a?b=c">the old manual</a> and
<a href="javascript:alert(1)">this</a>, which has more examples, more words, and more commas, than this page.</p>
</article></body></html>`

async function startSite() {
  const site = createServer((request, response) => {
    if (request.url === '/moved') {
      response.writeHead(302, { location: 'https://other.example/manual' }).end()
      return
    }
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(manual)
  })
  sites.push(site)
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  const { port } = site.address() as AddressInfo
  return `127.0.0.1:${port}`
}

async function start(locale: string) {
  const site = await startSite()
  const fetches = (path: string) => ({ name: 'web_fetch', input: { url: `http://${site}${path}` } })
  const model = (stage.model = await startModel([
    {
      calls: [
        fetches('/manual'),
        fetches('/moved'),
        { name: 'web_fetch', input: { url: 'http://169.254.169.254/latest' } },
      ],
    },
    { text: 'Rows are stored first.' },
  ]))
  const settings = JSON.stringify({ sandbox: { network: { allowedDomains: [site] } } })
  const host = (stage.host = await startHost({
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
    files: { '../.agent/settings.json': settings },
  }))
  return { model, site, ...(await openPage(stage.browser, host.url, { locale })) }
}

// OAS-309, K-12
test('a page is fetched once its host was allowed, and its card has its title and links', async () => {
  const { model, page, offences } = await start('en')
  await prompt(page, 'How are rows stored?')
  const asked = page.getByRole('region', { name: /WebFetch/ })
  await asked.getByText('This sends a request to 127.0.0.1').waitFor()
  await shots(page, 'web-asked')
  expect(await violations(page)).toEqual([])
  await untilArmed(asked)
  await asked.getByRole('button', { name: 'For session' }).click()
  const other = page.getByRole('region', { name: /WebFetch/ })
  await other.getByText('This sends a request to 169.254.169.254').waitFor()
  await untilArmed(other)
  await other.getByRole('button', { name: 'Allow', exact: true }).click()
  await page.getByText('Rows are stored first.').waitFor()
  await unfoldTurn(page)
  await page.getByRole('button', { name: /^2 other calls, 1 failed/ }).click()
  for (const at of [0, 1, 2]) {
    const line = page.getByRole('button', { name: /WebFetch/ }).nth(at)
    if ((await line.getAttribute('aria-expanded')) !== 'true') await line.click()
  }
  await page.getByText('The manual of rows', { exact: true }).waitFor()
  await page.getByText('It leads to another host').waitFor()
  await page.getByText('a cloud').first().waitFor()
  await page.getByRole('button', { name: '2 links' }).click()
  const links = page.getByRole('link', { name: /how rows are deleted|the old manual/ })
  expect(await links.count()).toBe(2)
  await shots(page, 'web-card')
  expect(await violations(page)).toEqual([])
  expect(model.heard.at(-1)).not.toContain('javascript:')
  expect(offences).toEqual([])
})

test('the card of a page is in Chinese', async () => {
  const { page, offences } = await start('zh-CN')
  const message = page.getByRole('textbox', { name: '消息' })
  await message.fill('行是怎样保存的？')
  await message.press('Enter')
  const asked = page.getByRole('region', { name: /WebFetch/ })
  await asked.getByText('这会向 127.0.0.1 发送请求').waitFor()
  await untilArmed(asked)
  await asked.getByRole('button', { name: '本会话内' }).click()
  await page.getByText('这会向 169.254.169.254 发送请求').waitFor()
  await shots(page, 'web-asked-zh')
  expect(offences).toEqual([])
})

// OAS-310
test('a search is set up in Settings, and its card has the pages that it found', async () => {
  const asked: string[] = []
  const engine = createServer((request, response) => {
    asked.push(String(request.url))
    response.setHeader('content-type', 'application/json')
    const results = [
      { url: 'https://go.dev/doc', title: 'Documentation', content: 'How to use <b>Go</b>.' },
      { url: 'https://other.example/rows', title: 'Rows', content: '', publishedDate: '2026' },
    ]
    response.end(JSON.stringify({ query: 'q', results }))
  })
  sites.push(engine)
  await new Promise<void>((resolve) => engine.listen(0, '127.0.0.1', resolve))
  const { port } = engine.address() as AddressInfo
  const search = { name: 'web_search', input: { query: 'go documentation' } }
  const model = (stage.model = await startModel([
    { calls: [search] },
    { text: 'Nothing is set up.' },
    { calls: [search] },
    { text: 'Found.' },
  ]))
  const env = { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' }
  const host = (stage.host = await startHost({ env }))
  const { page, offences } = await openPage(stage.browser, host.url, { locale: 'en' })
  await prompt(page, 'Search')
  await page.getByText('Nothing is set up.').waitFor()
  expect(model.heard.at(-1)).toContain('Settings → Keys → Web search')

  await page.getByRole('button', { name: 'Settings', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('tab', { name: 'Keys' }).click()
  await dialog.getByRole('combobox', { name: 'Web search' }).click()
  await page.getByRole('option', { name: /SearXNG/ }).click()
  const address = dialog.getByRole('textbox', { name: 'Address of SearXNG' })
  await address.fill('ftp://search')
  await address.press('Enter')
  await dialog.getByText('The address is not an http or https address.').waitFor()
  await address.fill(`http://127.0.0.1:${port}`)
  await address.press('Enter')
  await dialog.getByText(`http://127.0.0.1:${port}`).waitFor()
  await address.scrollIntoViewIfNeeded()
  await shots(page, 'web-search-settings')
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Escape')

  await prompt(page, 'Search again')
  const region = page.getByRole('region', { name: /WebSearch/ })
  await region.getByText('This sends a request to 127.0.0.1').waitFor()
  await untilArmed(region)
  await region.getByRole('button', { name: 'Allow', exact: true }).click()
  await page.getByText('Found.', { exact: true }).waitFor()
  expect(asked[0]).toContain('q=go+documentation')
  await page
    .getByRole('button', { name: /WebSearch go documentation/ })
    .last()
    .click()
  await page.getByRole('link', { name: 'Documentation' }).waitFor()
  await page.getByText('How to use Go.').waitFor()
  await shots(page, 'web-search-card')
  expect(await violations(page)).toEqual([])
  expect(offences).toEqual([])
})

test('the agent looks at a page in a browser, and its card has the picture and the errors', async () => {
  const site = createServer((request, response) => {
    if (request.url !== '/') {
      response.writeHead(404).end()
      return
    }
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(
      `<title>Tea shop</title><style>body{font:24px sans-serif;background:#e8f0e4;margin:60px}</style>
<h1>Tea and cups</h1><button onclick="document.title='Ordered';fetch('/order').then(() => console.error('it is missing'))">Order</button>`,
    )
  })
  sites.push(site)
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  const url = `http://localhost:${(site.address() as AddressInfo).port}/`
  const uses = (input: Record<string, unknown>) => ({ name: 'browser', input })
  for (const [locale, allow, others] of [
    ['en', 'For session', '2 other calls'],
    ['zh-CN', '本会话内', '其他调用 2 次'],
  ] as const) {
    const model = (stage.model = await startModel([
      { calls: [uses({ action: 'navigate', url })] },
      { calls: [uses({ action: 'click', target: 'Order' })] },
      { text: 'The order has no address.' },
    ]))
    const host = (stage.host = await startHost({
      env: {
        COMPAT_BASE_URL: model.url,
        COMPAT_API_KEY: 'test-key',
        CHROME_PATH: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell',
      },
    }))
    const { page, offences } = await openPage(stage.browser, host.url, { locale })
    const message = page.getByRole('textbox', { name: locale === 'en' ? 'Message' : '消息' })
    await message.fill('Does the order work?')
    await message.press('Enter')
    const asked = page.getByRole('region', { name: /Browser/ })
    await asked.getByText('localhost').first().waitFor()
    await shots(page, `browser-asked-${locale}`)
    await untilArmed(asked)
    await asked.getByRole('button', { name: allow }).click()
    await page.getByText('The order has no address.').waitFor()
    expect(model.heard.some((it) => it.includes('404 (fetch)'))).toBe(true)
    await unfoldTurn(page)
    await page.getByRole('button', { name: others, exact: true }).click()
    for (const at of [0, 1]) {
      const line = page.getByRole('button', { name: /Browser/ }).nth(at)
      if ((await line.getAttribute('aria-expanded')) !== 'true') await line.click()
    }
    await page.getByRole('img', { name: 'page.jpg' }).waitFor()
    await shots(page, `browser-card-${locale}`)
    expect(await violations(page)).toEqual([])
    expect(offences).toEqual([])
    await host.stop()
  }
})
