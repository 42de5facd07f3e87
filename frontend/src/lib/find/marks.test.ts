import { expect, test } from 'vitest'
import { patternOf, rangesIn } from './marks'

const boxOf = (html: string) => {
  const box = document.createElement('div')
  box.innerHTML = html
  return box
}
const found = (html: string, text: string) => rangesIn(boxOf(html), patternOf(text)!).map(String)

test.each([
  ['<p>One one <b>ON</b>E</p>', 'one', ['One', 'one', 'ONE']],
  ['<p>a <span>needle</span> in</p>', 'a needle in', ['a needle in']],
  ['<p>needle</p><p>needle</p>', 'needle', ['needle', 'needle']],
  ['<p>two\nlines</p>', 'two lines', ['two\nlines']],
  [
    '<p>a.*b (c) [d] \\e $f^ {g}| h/i?+</p>',
    '.*b (c) [d] \\e $f^ {g}| h/i?+',
    ['.*b (c) [d] \\e $f^ {g}| h/i?+'],
  ],
  ['<p>axxb</p>', 'a.*b', []],
  ['<p>ΣΊΣΥΦΟΣ</p>', 'σίσυφος', ['ΣΊΣΥΦΟΣ']],
  ['<p>3 K</p>', '3 k', ['3 K']],
  ['<p>x😀y😀</p>', '😀', ['😀', '😀']],
  ['<p>\u001b[31m red</p>', '\u001b[31M', ['\u001b[31m']],
])('in %j, %j is found', (html, text, want) => {
  expect(found(html, text)).toEqual(want)
})

test('a formula is found as it was written, and marked as a whole', () => {
  const math = (tex: string, drawn: string) =>
    `<math><semantics><mi>${drawn}</mi><annotation>${tex}</annotation></semantics></math>`
  const box = boxOf(`<p>so ${math('\\alpha', 'α')} is beta ${math('\\beta', 'β')}</p>`)
  const [formula] = rangesIn(box, patternOf('\\ALPHA')!)
  expect(formula!.startContainer).toBe(box.firstElementChild)
  expect(formula!.cloneContents().firstElementChild?.localName).toBe('math')
  expect(rangesIn(box, patternOf('beta')!)).toHaveLength(2)
  expect(rangesIn(box, patternOf('α')!)).toEqual([])
})

test('an empty text has no pattern, and the number of places is limited', () => {
  expect(patternOf('')).toBeUndefined()
  expect(rangesIn(boxOf('a'.repeat(100)), patternOf('a')!, 7)).toHaveLength(7)
})
