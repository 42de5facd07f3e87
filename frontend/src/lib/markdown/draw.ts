/** Draws formulas with KaTeX, as MathML that browsers draw alike: its core, in the colours of the page. Loaded when it is needed. */
import katex, { type KatexOptions } from 'katex'

/** A formula as MathML, which is still to be sanitised. */
export const drawFormula = (tex: string, options: KatexOptions): string =>
  tidy(katex.renderToString(tex, options))

/** Lengths beyond this many em would draw over the text beside a formula. */
const furthest = 20
const lengths = [
  ...['lspace', 'rspace', 'width', 'height', 'depth', 'voffset', 'minsize', 'maxsize'],
  'linethickness',
]

function tidy(html: string): string {
  const box = document.createElement('template')
  box.innerHTML = html
  const math = box.content.querySelector('math')
  if (!math) return ''
  for (const each of math.querySelectorAll('*')) {
    for (const name of lengths) {
      const value = each.getAttribute(name)
      if (value && isFar(value)) each.removeAttribute(name)
    }
    const variant = each.getAttribute('mathvariant')
    if (variant && variant !== 'normal') restyle(each, variant)
    // Sizes are relative, so nested ones would multiply.
    if (each.parentElement?.closest('[mathsize]')) each.removeAttribute('mathsize')
  }
  for (const table of math.querySelectorAll('mtable')) align(table)
  for (const box of math.querySelectorAll('menclose')) enclose(box)
  return math.outerHTML
}

function isFar(value: string): boolean {
  const [, number, unit] = /^([+-]?[\d.]+)([a-z%]*)$/.exec(value) ?? []
  const perEm = { em: 1, px: 16, pt: 12, ex: 2, mu: 18 }[unit ?? ''] ?? 1
  if (unit === 'width' || unit === '%') return Math.abs(Number(number)) > 100
  return number === undefined || Math.abs(Number(number)) / perEm > furthest
}

/** Browsers ignore how columns are aligned and ruled, so their cells get classes. */
function align(table: Element): void {
  const list = (name: string) => (table.getAttribute(name) ?? '').split(' ')
  const [columns, rules, rows] = [list('columnalign'), list('columnlines'), list('rowlines')]
  const isTight = list('columnspacing')[0] === '0em'
  if (isTight) table.classList.add('tight')
  ;[...table.children].forEach((row, y) => {
    ;[...row.children].forEach((cell, x) => {
      cell.removeAttribute('width')
      const side = columns[x]
      if (side === 'left' || side === 'right') cell.classList.add(`to-${side}`)
      if (isRuled(rules[x])) cell.classList.add('ruled-right')
      if (isRuled(rows[y])) cell.classList.add('ruled-below')
    })
  })
}

const isRuled = (line: string | undefined) => line === 'solid' || line === 'dashed'

function enclose(box: Element): void {
  const row = document.createElementNS('http://www.w3.org/1998/Math/MathML', 'mrow')
  const notation = box.getAttribute('notation') ?? ''
  row.setAttribute('class', notation.includes('strike') ? 'struck' : 'boxed')
  row.append(...box.childNodes)
  box.replaceWith(row)
}

/** Where the alphabets of mathematics begin: capitals, small letters, digits. */
const alphabets: Record<string, [number, number, number?]> = {
  bold: [0x1d400, 0x1d41a, 0x1d7ce],
  italic: [0x1d434, 0x1d44e],
  'bold-italic': [0x1d468, 0x1d482],
  script: [0x1d49c, 0x1d4b6],
  'bold-script': [0x1d4d0, 0x1d4ea],
  fraktur: [0x1d504, 0x1d51e],
  'double-struck': [0x1d538, 0x1d552, 0x1d7d8],
  'bold-fraktur': [0x1d56c, 0x1d586],
  'sans-serif': [0x1d5a0, 0x1d5ba, 0x1d7e2],
  'bold-sans-serif': [0x1d5d4, 0x1d5ee, 0x1d7ec],
  'sans-serif-italic': [0x1d608, 0x1d622],
  'sans-serif-bold-italic': [0x1d63c, 0x1d656],
  monospace: [0x1d670, 0x1d68a, 0x1d7f6],
}
/** Small Greek letters in bold. */
const greek: Record<string, number> = { bold: 0x1d6c2, 'bold-italic': 0x1d736 }

/** Letters that Unicode had before it got the alphabets. */
const exceptions: Record<string, string> = {
  italic: 'hℎ',
  script: 'BℬEℰFℱHℋIℐLℒMℳRℛeℯgℊoℴ',
  fraktur: 'CℭHℌIℑRℜZℨ',
  'double-struck': 'CℂHℍNℕPℙQℚRℝZℤ',
}

/** Letters in an alphabet of mathematics. The core of MathML only knows the upright one as an attribute. */
export function letters(text: string, variant: string): string {
  const [capital, small, digit] = alphabets[variant] ?? []
  if (!capital || !small) return text
  return [...text]
    .map((letter) => {
      const pairs = [...(exceptions[variant] ?? '')]
      const at = pairs.indexOf(letter)
      if (at >= 0 && at % 2 === 0) return pairs[at + 1]!
      const code = letter.codePointAt(0)!
      if (/[A-Z]/.test(letter)) return String.fromCodePoint(capital + code - 0x41)
      if (/[a-z]/.test(letter)) return String.fromCodePoint(small + code - 0x61)
      if (/[0-9]/.test(letter) && digit) return String.fromCodePoint(digit + code - 0x30)
      if (/[α-ω]/.test(letter) && greek[variant])
        return String.fromCodePoint(greek[variant] + code - 0x3b1)
      return letter
    })
    .join('')
}

function restyle(element: Element, variant: string): void {
  if (element.children.length > 0) return
  const text = element.textContent ?? ''
  const styled = letters(text, variant)
  element.removeAttribute('mathvariant')
  if (styled === text) return
  element.textContent = styled
  // A single letter would become italic.
  if (element.localName === 'mi') element.setAttribute('mathvariant', 'normal')
}
