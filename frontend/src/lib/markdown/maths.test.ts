import { beforeAll, describe, expect, test, vi } from 'vitest'
import { letters } from './draw'
import { loadFormulas } from './engine.svelte'
import { GrowingMarkdown, renderMarkdown } from './render'

const html = (text: string) =>
  renderMarkdown(text)
    .map((block) => block.html)
    .join('')

function shown(text: string): HTMLElement {
  const box = document.createElement('div')
  box.innerHTML = html(text)
  return box
}

const formulas = (text: string) =>
  [...shown(text).querySelectorAll('math')].map(
    (math) =>
      (math.getAttribute('display') === 'block' ? '# ' : '') +
      math.querySelector('annotation')?.textContent,
  )

test('until KaTeX is loaded, a formula is shown as it was written', async () => {
  vi.resetModules() // another file may have loaded it
  const { renderMarkdown } = await import('./render')
  expect(renderMarkdown('$x^2$')[0]?.html).toBe('<p dir="auto">$x^2$</p>\n')
})

describe('with KaTeX', () => {
  beforeAll(loadFormulas)

  test.each([
    ['$x$ and $y^2$', ['x', 'y^2']],
    ['a$$\\sum x$$b', ['# \\sum x']],
    ['so:\n$$\na\n= b\n- c\n$$\nfor', ['# a\n= b\n- c']],
    ['$$ E = mc^2 $$.', ['# E = mc^2.']],
    ['where \\(x\\) and \\( y+1 \\)', ['x', 'y+1']],
    ['\\[ E = mc^2 \\]', ['# E = mc^2']],
    ['\\[\nx\n\\]', ['# x']],
    ['- a\n  $$\n  x\n  $$\n- b', ['# x']],
    ['> $$\n> x\n> $$', ['# x']],
    ['设$x$为', ['x']],
    ['$`a*b*c`$', ['a*b*c']],
    ['the triangle $ABC$', ['ABC']],
    ['$a_b*c$ and *$d$*', ['a_b*c', 'd']],
    ['$\\text{a \\$ b}$', ['\\text{a \\$ b}']],
    ['| $a$ |\n|---|\n| $b$ |', ['a', 'b']],
    ['[^1] $x$\n\n[^1]: $y$', ['x', 'y']],
  ])('%j has the formulas %j', (text, want) => {
    expect(formulas(text)).toEqual(want)
  })

  test.each([
    'It is $5 and $10.',
    '$5-$10, $100M–$200M, $5 (or 4$)',
    'cost 5$ or 6$',
    '价格是 $5，原价 6$',
    'US$5 and CA$7',
    '$HOME/bin:$PATH and ${A}_${B}',
    'echo $$ and $$',
    '$user_id, $user_name',
    '`$x$` and ``$$y$$``',
    '```\n$x$\n```',
    '    $x$',
    'a \\$x\\$ b',
    '$ x $',
    '$x\ny$',
    '$$\na\n\nb\n$$',
    '$$\nnever closed',
    '\\[x\\] done, \\(see below\\), \\[a=b\\](https://x.org)',
    '\\\\(x\\\\)',
    '$USER$ and $PATH$',
    '$a `b$ c`',
    '$$$x$$$',
  ])('%j has none', (text) => {
    expect(formulas(text)).toEqual([])
  })

  test.each([
    ['$\\href{javascript:alert(1)}{x}$', '\\href'],
    ['$\\url{javascript:alert(1)}$', '\\url'],
    ['$\\htmlData{a=b}{x}$', '\\htmlData'],
    ['$\\htmlClass{file-link}{x}$', '\\htmlClass'],
    ['$\\htmlStyle{position:fixed}{x}$', '\\htmlStyle'],
    ['$\\htmlId{app}{x}$', '\\htmlId'],
    ['$\\includegraphics{https://evil.example/x.png}$', '\\includegraphics'],
    ['$\\def\\a{\\a\\a}\\a$', '\\def'],
    ['$\\newcommand\\a{b}\\a$', '\\newcommand'],
    ['$\\frac{1$', "expected '}'"],
    ['$\\nonsense{x}$', '\\nonsense'],
    ['$\\text{<img src=x onerror=alert(1)>}\\nonsense"$', '\\nonsense'],
  ])('%s stays as it is written, with the reason', (text, reason) => {
    const box = shown(text)
    expect(box.textContent?.trim()).toBe(text)
    expect(box.querySelector('.unread')?.getAttribute('title')?.toLowerCase()).toContain(
      reason.toLowerCase(),
    )
    expect(box.querySelector('math, a, img')).toBeNull()
  })

  test('a drawn formula has no links, styles, colours or ids', () => {
    const box = shown(
      '$\\color{white}\\colorbox{red}{x}\\Huge{\\Huge{\\Huge y}}\\hspace{-500em}\\raisebox{-300em}{z}' +
        '\\text{<img src=x onerror=alert(1)>}\\rule{900em}{900em}\\char"202E\\fcolorbox{red}{blue}{q}$',
    )
    expect(box.querySelector('math')).not.toBeNull()
    expect(
      box.querySelector('[style], [id], [href], [mathcolor], [mathbackground], img'),
    ).toBeNull()
    expect(box.querySelectorAll('[mathsize]')).toHaveLength(1)
    box.querySelector('annotation')?.remove()
    expect(box.innerHTML).not.toContain('00em')
    expect(box.textContent).not.toContain('\u202e')
  })

  test('alphabets are letters of their own', () => {
    expect(letters('RhB9', 'double-struck')).toBe('ℝ𝕙𝔹𝟡')
    expect(letters('LBh', 'script')).toBe('ℒℬ𝒽')
    expect(letters('Ab1α!', 'bold')).toBe('𝐀𝐛𝟏𝛂!')
    expect(shown('$\\mathbb{R}$').querySelector('mi')?.textContent).toBe('ℝ')
  })

  test('columns and boxes do not need what browsers ignore', () => {
    const box = shown('$$\\begin{aligned}a&=b\\end{aligned}\\boxed{x}\\cancel{y}$$')
    expect(box.querySelector('mtable.tight mtd')?.classList.contains('to-right')).toBe(true)
    expect(box.querySelectorAll('.boxed, .struck')).toHaveLength(2)
  })

  test('a message draws so many formulas, and leaves the rest as text', () => {
    expect(formulas('$x$ '.repeat(600))).toHaveLength(500)
    expect(formulas(`$${'x+'.repeat(2500)}x$`)).toEqual([])
    expect(formulas(`$${'x+'.repeat(1500)}x$ `.repeat(20))).toHaveLength(9)
  })

  test('a half-written formula is text until it is closed', () => {
    const parser = new GrowingMarkdown()
    const at = (text: string) => parser.update(text).map((block) => block.html)
    expect(at('so $x^')).toEqual(['<p dir="auto">so $x^</p>\n'])
    expect(at('so $x^2$')[0]).toContain('<math')
    expect(at('so $x^2$\n\n$$\na\n')[1]).toContain('$$')
    expect(at('so $x^2$\n\n$$\na\n$$\n')[1]).toContain('<math')
  })

  test.each([
    '$'.repeat(10_000),
    '$x'.repeat(10_000),
    '$$x'.repeat(10_000),
    '\\('.repeat(20_000),
    '\\[\n'.repeat(5000),
    '$$\na\n'.repeat(300),
    '$x$ '.repeat(5000),
    `$${'{'.repeat(1900)}x${'}'.repeat(1900)}$`,
    `$${'\\frac1{'.repeat(450)}x${'}'.repeat(450)}$`,
    `$${'\\left('.repeat(290)}x${'\\right)'.repeat(290)}$`,
    `$$\\begin{matrix}${'&\\\\'.repeat(1200)}\\end{matrix}$$`,
  ])('%#: a hostile text is rendered', (text) => {
    expect(shown(text).textContent).not.toBe('')
  })
})
