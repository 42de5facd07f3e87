import { describe, expect, test } from 'vitest'
import { parseTerminal } from './terminal'

describe('terminal output', () => {
  const plain = (output: string) =>
    parseTerminal(output)
      .map((span) => span.text)
      .join('')

  test.each([
    ['colours', '\x1b[1;31mred\x1b[0m', 'red'],
    ['a hyperlink with a script', '\x1b]8;;javascript:alert(1)\x07link\x1b]8;;\x07', 'link'],
    ['a clipboard write', 'a\x1b]52;c;ZXZpbA==\x07b', 'ab'],
    ['an unfinished string', 'a\x1b]0;title', 'a'],
    ['cursor movement', 'a\x1b[2J\x1b[1;1Hb', 'ab'],
    ['other escapes', 'a\x1bcb\x1b(Bc', 'abc'],
    ['bells and backspaces', 'a\x07\x08b', 'ab'],
    ['progress on one line', '10%\r50%\r100%\ndone', '100%\ndone'],
    ['Windows line ends', 'a\r\nb\r\n', 'a\nb\n'],
  ])('%s', (_, given, want) => {
    expect(plain(given)).toBe(want)
  })

  test.each<[string, string, object]>([
    ['a colour of the palette', '32', { classes: 'fg-green' }],
    ['a faint bright colour', '2;91', { classes: 'fg-red dim' }],
    ['magenta', '35', { classes: 'fg-magenta' }],
    ['a ground with readable text', '41;37', { classes: 'bg-red fg-on' }],
    ['a bright ground under a colour', '102;34', { classes: 'bg-green fg-blue' }],
    ['styles', '1;3;4;9', { classes: 'bold italic underline strike' }],
    ['styles that end', '1;3;4;9;22;23;24;29', { classes: '' }],
    ['reverse', '7', { classes: 'bg-ink fg-ground' }],
    ['reverse of a colour', '31;7', { classes: 'bg-red fg-ground' }],
    ['reverse that ends', '7;27', { classes: '' }],
    ['one of the first 16 of 256 colours', '38;5;12', { classes: 'fg-blue' }],
    ['a colour of the cube', '38;5;200', { classes: '', color: 'rgb(255 0 215)' }],
    ['a gray', '38;5;232', { classes: '', color: 'rgb(8 8 8)' }],
    ['a true colour, then bold', '38;2;1;2;3;1', { classes: 'bold', color: 'rgb(1 2 3)' }],
    ['a true colour in one group', '38:2::1:2:3', { classes: '', color: 'rgb(1 2 3)' }],
    ['a palette colour in one group', '38:5:200;1', { classes: 'bold', color: 'rgb(255 0 215)' }],
    ['a wavy underline', '4:3', { classes: 'underline' }],
    ['an underline that ends', '4;4:0', { classes: '' }],
    [
      'a dark ground',
      '48;2;0;0;90',
      { classes: '', color: 'rgb(255 255 255)', background: 'rgb(0 0 90)' },
    ],
    [
      'a light ground',
      '48;5;255',
      { classes: '', color: 'rgb(0 0 0)', background: 'rgb(238 238 238)' },
    ],
    ['colours that are reset', '31;42;39;49', { classes: '' }],
    ['numbers that are not a colour', '38;2;1;2;999', { classes: '' }],
    ['an incomplete sequence', '38;5', { classes: '' }],
  ])('keeps %s', (_, parameters, want) => {
    expect(parseTerminal(`\x1b[${parameters}mx`)).toEqual([{ text: 'x', ...want }])
  })

  test('text of one style is one span', () => {
    expect(parseTerminal('\x1b[32mok\x1b[0m no\x1b[1mbo\x1b[1mld')).toEqual([
      { text: 'ok', classes: 'fg-green' },
      { text: ' no', classes: '' },
      { text: 'bold', classes: 'bold' },
    ])
  })
})
