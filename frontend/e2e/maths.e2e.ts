import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, prompt, shots, untilFocused, untilRest } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

const lesson = String.raw`## The normal distribution

Its density has the mean $\mu$ and the variance $\sigma^2$[^1]; it costs $5, not $10.

$$
f(x) = \frac{1}{\sqrt{2\pi\sigma^2}}\, e^{-\frac{(x-\mu)^2}{2\sigma^2}}, \qquad x \in \mathbb{R}
$$

\[ \hat\beta = \left(X^\top X\right)^{-1} X^\top y, \quad \begin{pmatrix} a & b \\ c & d \end{pmatrix}^{-1} = \frac{1}{ad-bc} \begin{pmatrix} d & -b \\ -c & a \end{pmatrix} \]

$$\begin{aligned} (a+b)^2 &= a^2 + 2ab + b^2 \\ &= \boxed{\sum_{k=0}^{2} \binom{2}{k} a^k b^{2-k}} \end{aligned}$$

$$|x| = \begin{cases} x & \text{if } x \ge 0 \\ -x & \text{else} \end{cases} \qquad \lim_{n\to\infty} \int_0^1 \mathcal{L}(f_n) \, \mathrm{d}x$$

Where \(x\) is a number, $\frac{1}{2$ cannot be read[^why], and the mean is $\mu$ again[^1].

[^1]: See **Gauss**, who wrote $\varphi(x)$.
[^why]: A brace is missing.`

async function tell(text: string, locale = 'en') {
  const model = (stage.model = await startModel([{ text }]))
  const host = (stage.host = await startHost({
    files: {},
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  return openPage(stage.browser, host.url, { locale })
}

/** The bytes of script that the page itself names, without what it loads later: panels when it is idle, and formulas. */
const scripts = (page: Page) =>
  page.evaluate(async () => {
    const html = await (await fetch(location.pathname)).text()
    return performance
      .getEntriesByType('resource')
      .filter(({ name }) => name.endsWith('.js') && html.includes(name.split('/').at(-1)!))
      .reduce((sum, each) => sum + (each as PerformanceResourceTiming).decodedBodySize, 0)
  })

const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent?.trim())

test('formulas are drawn, found and copied as they were written', async () => {
  const { page, offences } = await tell(lesson)
  await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor()
  const size = await scripts(page)
  expect(size).toBeGreaterThan(500_000)
  expect(size).toBeLessThan(1_200_000)
  await prompt(page, 'Explain it')
  await page.getByText('A brace is missing.').waitFor()
  await untilRest(page)
  const text = page.locator('.markdown')
  await expect.poll(() => text.locator('math').count()).toBe(9)
  expect(await text.getByText('it costs $5, not $10.').count()).toBe(1)
  const unread = text.locator('.unread')
  expect(await unread.innerText()).toBe('$\\frac{1}{2$')
  expect(await unread.getAttribute('title')).toContain('This formula cannot be read.')
  await shots(page, 'maths')
  expect(await violations(page)).toEqual([])

  await page.keyboard.press('Control+f')
  await untilFocused(page.getByRole('search').locator('input'))
  await page.keyboard.type('\\varphi')
  await page.getByText('1 of 1').waitFor()
  const marked = () =>
    page.evaluate(() =>
      [...((CSS.highlights.get('find-current') ?? []) as Iterable<Range>)].map(
        (range) => range.getBoundingClientRect().height > 5,
      ),
    )
  await expect.poll(marked).toEqual([true])
  await page.keyboard.press('Escape')

  const copied = await page.evaluate(() => {
    getSelection()!.selectAllChildren(document.querySelector('.markdown p')!)
    const data = new DataTransfer()
    const target = document.querySelector('.markdown p')!
    target.dispatchEvent(new ClipboardEvent('copy', { clipboardData: data, bubbles: true }))
    return data.getData('text/plain')
  })
  expect(copied).toContain('the mean $\\mu$ and the variance $\\sigma^2$')
  expect(offences).toEqual([])
})

test('a footnote is reached and left with the keyboard, within its message', async () => {
  const { page, offences } = await tell(
    lesson.replace(
      'Where',
      Array.from({ length: 40 }, (_, n) => `Line ${n}.\n\n`).join('') + 'Where',
    ),
  )
  await prompt(page, 'One')
  await page.getByText('A brace is missing.').waitFor()
  await untilRest(page)
  const first = page.getByRole('button', { name: 'Footnote 1', exact: true }).first()
  await first.focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => focused(page)).toContain('See Gauss')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await untilFocused(first)
  await expect.poll(() => first.evaluate((each) => each.getBoundingClientRect().top > 0)).toBe(true)
  // The list does not fall back to its end.
  await page.getByRole('button', { name: 'Jump to latest' }).waitFor()
  expect(offences).toEqual([])
})

test('formulas and footnotes have Chinese words', async () => {
  const { page, offences } = await tell(
    '设 $x\\in\\mathbb{R}$，则 $$\\int_0^1 x^2\\,\\mathrm{d}x=\\frac13$$ 参见[^1]。$\\frac{1$\n\n[^1]: 微积分，价格 $5。',
    'zh-CN',
  )
  await page.getByRole('textbox').first().fill('讲解')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: '脚注 1', exact: true }).waitFor()
  await page.locator('math').first().waitFor()
  await shots(page, 'maths-zh')
  expect(await page.locator('.unread').getAttribute('title')).toContain('无法识别此公式')
  expect(offences).toEqual([])
})

test('hostile formulas and footnotes run nothing, load nothing and draw over nothing', async () => {
  const hostile = [
    '$\\href{javascript:alert(1)}{x}$ $\\url{https://evil.example/}$',
    '$\\htmlData{onclick=alert(2)}{x}$ $\\htmlStyle{position:fixed;inset:0}{x}$ $\\htmlId{app}{x}$',
    '$\\includegraphics[height=1em]{https://evil.example/3.png}$',
    '$\\text{<img src=x onerror=alert(4)>}$ $\\unicode{<img src=x onerror=alert(5)>}$',
    '$$\\rule{900em}{900em}$$ $\\hspace{-90em}\\text{Allow}$ $\\raisebox{-90em}{Allow}$ x$\\smash{\\rule{20em}{20em}}$',
    `$${'\\Huge{'.repeat(50)}x${'}'.repeat(50)}$`,
    '[^a]\n\n[^a]: <img src=x onerror=alert(6)> [x](javascript:alert(6))\n[^"onclick="alert(7)]: y',
    '$'.repeat(10_000),
    '$x$ '.repeat(3000),
    `$${'\\sqrt{'.repeat(600)}x${'}'.repeat(600)}$`,
    'The very end.',
  ]
  const { page, offences } = await tell(hostile.join('\n\n'))
  await prompt(page, 'Go')
  await page.getByText('The very end.').waitFor()
  await page.locator('math').first().waitFor()
  const text = page.locator('.markdown')
  const active = 'script, iframe, img, form, a, style, [style], [id], [onclick], [onerror], mglyph'
  expect(await text.locator(active).count()).toBe(0)
  expect(offences).toEqual([])
})
