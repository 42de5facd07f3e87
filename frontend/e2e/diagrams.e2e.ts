import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, prompt, shot, untilRest } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()
const fence = (source: string) => `\`\`\`mermaid\n${source}\n\`\`\`\n`

const order = `---
title: How an order is paid
---
flowchart LR
  A[Basket] --> B{Paid?}
  B -- yes --> C(Pack it)
  B -- no --> D[Ask again]
  D --> B
  subgraph depot [The depot]
    C --> E[(Stock)]
  end`

async function tell(text: string, locale = 'en') {
  stage.model = await startModel([{ text }])
  stage.host = await startHost({ env: { COMPAT_BASE_URL: stage.model.url } })
  return openPage(stage.browser, stage.host.url, { locale })
}

const show = (page: Page) => page.getByRole('button', { name: 'Show diagram' })

const log = (page: Page) => page.getByRole('log')
const pictures = (page: Page) => page.getByRole('img', { name: /^Diagram:/ })

test('a diagram is drawn and left with the keyboard, in the colours of the page', async () => {
  const { page, offences } = await tell(`So it goes:\n\n${fence(order)}\nThat is all.`)
  await prompt(page, 'How?')
  await page.getByText('That is all.').waitFor()
  await untilRest(page)
  await show(page).focus()
  await page.keyboard.press('Enter')
  const picture = page.getByRole('img', { name: 'Diagram: How an order is paid' })
  await picture.waitFor()
  await shot(page, 'diagram')
  expect(await violations(page)).toEqual([])
  expect(await page.locator('iframe').count()).toBe(0)

  const light = await picture.getAttribute('src')
  expect(light).toMatch(/^data:image\/svg\+xml,%3Csvg/)
  await page.emulateMedia({ colorScheme: 'dark' })
  await expect.poll(() => picture.getAttribute('src')).not.toBe(light)
  await shot(page, 'diagram-dark')

  await page.keyboard.press('Enter')
  await page.getByText('D --> B').waitFor()
  await picture.waitFor({ state: 'detached' })
  expect(offences).toEqual([])
})

test('a wide diagram scrolls, and what cannot be drawn says why', async () => {
  const wide =
    'flowchart LR\n' + Array.from({ length: 30 }, (_, n) => `a${n} --> a${n + 1}`).join('\n')
  const others = [
    'flowchart LR\n  A --> B\n  B -->',
    'block-beta\n columns 1\n space:99999999',
    'flowchart LR\n' + 'A --> B\n'.repeat(300),
  ]
  const { page, offences } = await tell([wide, ...others].map(fence).join('\n') + '\nThe end.')
  await prompt(page, 'How?')
  await page.getByText('The end.').waitFor()
  await untilRest(page)
  for (let n = 0; n < 4; n++) {
    await show(page).first().press('Space')
    await expect.poll(() => show(page).count()).toBe(3 - n)
  }
  await log(page).getByText('because line 3 cannot be read').waitFor()
  await log(page).getByText('This kind of diagram is not drawn.').waitFor()
  await log(page).getByText('This diagram is too large to be drawn.').waitFor()
  await pictures(page).waitFor()
  await shot(page, 'diagrams-failed')
  const box = page.locator('div[tabindex]:has(> img)')
  await box.focus()
  await page.keyboard.press('ArrowRight')
  await expect.poll(() => box.evaluate((each) => each.scrollLeft)).toBeGreaterThan(0)
  expect(offences).toEqual([])
})

test('a diagram has Chinese words', async () => {
  const { page, offences } = await tell(
    fence('sequenceDiagram\n  title 下单\n  顾客->>商店: 付款') +
      fence('flowchart LR\n A -->') +
      '完。',
    'zh-CN',
  )
  await page.getByRole('textbox').first().fill('讲解')
  await page.keyboard.press('Enter')
  await page.getByText('完。').waitFor()
  await untilRest(page)
  const shows = page.getByRole('button', { name: '显示图表' })
  for (const left of [1, 0]) {
    await shows.first().press('Enter')
    await expect.poll(() => shows.count()).toBe(left)
  }
  await page.getByRole('img', { name: '图表：下单' }).waitFor()
  await log(page).getByText('无法绘制此图表：第 2 行无法识别。').waitFor()
  await shot(page, 'diagram-zh')
  expect(offences).toEqual([])
})

test('hostile diagrams run nothing, load nothing and change no limit', async () => {
  const evil = 'https://evil.example'
  const hostile = [
    'flowchart LR\n A["<img src=x onerror=alert(1)>"] --> B["<script>alert(1)</script>"]',
    `flowchart LR\n A --> B\n click A "javascript:alert(2)"\n click B href "${evil}/2" _blank\n click A call alert(2)`,
    `flowchart LR\n A@{ img: "${evil}/3.png", label: "x" } --> B@{ icon: "fa:user" }`,
    `%%{init: {"securityLevel": "loose", "htmlLabels": true, "flowchart": {"htmlLabels": true}, "maxEdges": 9999, "secure": []}}%%\nflowchart LR\n A["<iframe src='${evil}/4'></iframe>"] --> B`,
    `%%{init: {"themeCSS": "@import url(${evil}/5.css); * { background: url(${evil}/5) }", "fontFamily": "x; background: url(${evil}/5)", "themeVariables": {"lineColor": "url(${evil}/5)"}}}%%\nflowchart LR\n A --> B`,
    `flowchart LR\n A --> B\n style A fill:url(${evil}/6),background:url(${evil}/6)\n classDef x fill:url(${evil}/6)\n class B x`,
    `---\nconfig:\n  securityLevel: loose\n  look: handDrawn\n  layout: elk\n  __proto__: {polluted: 1}\n---\nflowchart LR\n A["$$\\href{javascript:alert(7)}{x}$$"] --> B`,
    `sequenceDiagram\n participant A\n link A: x @ javascript:alert(8)\n links A: {"y": "${evil}/8"}\n A->>A: <svg onload=alert(8)>`,
    `classDiagram\n class A\n callback A "alert" "x"\n link A "javascript:alert(9)"`,
  ]
  const { page, offences } = await tell(hostile.map(fence).join('\n') + '\nThe end.')
  await prompt(page, 'Go')
  await page.getByText('The end.').waitFor()
  await untilRest(page)
  for (const [n] of hostile.entries()) {
    await show(page).first().press('Enter')
    await expect.poll(() => show(page).count()).toBe(hostile.length - n - 1)
  }
  await expect.poll(() => page.getByText('Drawing the diagram').count()).toBe(0)
  await shot(page, 'diagrams-hostile')
  const drawn = await pictures(page).evaluateAll((all) =>
    all.map((each) => decodeURIComponent(each.getAttribute('src')!)),
  )
  expect(drawn.length).toBeGreaterThan(5)
  for (const svg of drawn) {
    expect(svg).not.toMatch(
      /<(script|foreignObject|image|iframe|img)\b|\son\w+="|="javascript:|href="(?!#)|@import/i,
    )
    expect(svg).not.toContain('evil.example/5')
  }
  expect(await page.locator('iframe').count()).toBe(0)
  expect(offences).toEqual([])
})
