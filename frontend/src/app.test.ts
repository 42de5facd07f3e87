import { describe, expect, test } from 'vitest'
import css from './app.css?raw'

type Palette = Record<string, [number, number, number]>

/** The OKLCH tokens of a block. Translucent tokens are left out: they lie over other grounds. */
function palette(selector: string): Palette {
  const from = css.indexOf(`${selector} {`)
  const block = css.slice(from, css.indexOf('}', from))
  const found: Palette = {}
  for (const [, name, l, c, h] of block.matchAll(
    /--([\w-]+): oklch\(([\d.]+) ([\d.]+) ([\d.]+)\)/g,
  )) {
    found[name!] = [Number(l), Number(c), Number(h)]
  }
  return found
}

/** Relative luminance (WCAG 2) of an OKLCH colour, clipped to sRGB. */
function luminance([lightness, chroma, hue]: [number, number, number]): number {
  const a = chroma * Math.cos((hue * Math.PI) / 180)
  const b = chroma * Math.sin((hue * Math.PI) / 180)
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
  const clip = (x: number) => Math.min(1, Math.max(0, x))
  return (
    0.2126 * clip(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s) +
    0.7152 * clip(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s) +
    0.0722 * clip(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s)
  )
}

function contrast(colors: Palette, one: string, other: string): number {
  const [light, dark] = [luminance(colors[one]!), luminance(colors[other]!)].sort((x, y) => y - x)
  return (light! + 0.05) / (dark! + 0.05)
}

const grounds = ['paper', 'sheet', 'well']
const hues = ['red', 'green', 'yellow', 'blue', 'magenta', 'cyan']
const code = ['keyword', 'text', 'number', 'name', 'type', 'comment'].map((it) => `code-${it}`)
const texts = ['ink', 'ink-soft', 'ink-faint', 'accent', 'run', 'wait', 'good', 'bad', ...hues]
const pairs: [string, string][] = [
  ...grounds.flatMap((ground) => texts.map((text): [string, string] => [text, ground])),
  ...['ink', 'ink-soft', ...code].flatMap((text) =>
    [...grounds, 'add', 'del', 'add-word', 'del-word'].map((ground): [string, string] => [
      text,
      ground,
    ]),
  ),
  ...['ink', 'ink-soft', 'wait'].map((text): [string, string] => [text, 'wait-ground']),
  ...['ink', 'ink-soft', 'bad'].map((text): [string, string] => [text, 'bad-ground']),
  ['accent-ink', 'accent'],
  ['ink', 'find'],
  ['find-ink', 'find-current'],
  // Programs print text on a coloured ground, or in reverse video.
  ...[...hues, 'ink-faint', 'ink-soft'].map((hue): [string, string] => ['sheet', hue]),
]

describe.each([
  [':root', "[data-contrast='high']"],
  ["[data-theme='dark']", "[data-contrast='high'][data-theme='dark']"],
])('high contrast over %s', (theme, selector) => {
  const colors = { ...palette(theme), ...palette(selector) }
  const strong = ['ink', 'ink-soft', 'ink-faint', 'accent', 'run', 'wait', 'good', 'bad']

  test.each(strong)('text in %s is well readable on every ground', (text) => {
    for (const ground of grounds) {
      expect(contrast(colors, text, ground)).toBeGreaterThanOrEqual(7)
    }
  })

  test('lines and controls are visible on every ground', () => {
    for (const shape of ['line', 'line-strong', 'control']) {
      for (const ground of grounds) {
        expect(contrast(colors, shape, ground)).toBeGreaterThanOrEqual(3)
      }
    }
    expect(contrast(colors, 'accent-ink', 'accent')).toBeGreaterThanOrEqual(7)
  })

  test('it differs in the same tokens in both themes', () => {
    const names = Object.keys(palette(selector))
    expect(names).toEqual(Object.keys(palette("[data-contrast='high']")))
  })
})

describe.each([':root', "[data-theme='dark']"])('%s', (selector) => {
  const colors = palette(selector)

  test.each(pairs)('text in %s is readable on %s', (text, ground) => {
    expect(contrast(colors, text, ground)).toBeGreaterThanOrEqual(4.5)
  })

  test.each(['control', 'accent', 'run', 'wait', 'good', 'bad'])(
    'a shape in %s is visible on every ground',
    (shape) => {
      for (const ground of grounds) {
        expect(contrast(colors, shape, ground)).toBeGreaterThanOrEqual(3)
      }
    },
  )

  test('both themes define the same tokens', () => {
    const names = (of: string) => {
      const from = css.indexOf(`${of} {`)
      return [...css.slice(from, css.indexOf('}', from)).matchAll(/--[\w-]+(?=:)/g)].map(String)
    }
    expect(names(selector)).toEqual(names(':root'))
  })
})

// The Chinese fonts are large, so a page without Chinese does not load them.
test('the CJK fonts come before the system’s fonts on Chinese screens alone', () => {
  const fonts = (selector: string) => {
    const block = css.slice(
      css.indexOf(`${selector} {\n  ${selector === ':root' ? '/* The user' : '--sans'}`),
    )
    return ['sans', 'mono'].map((name) => {
      const list = new RegExp(`--${name}:([^;]*);`).exec(block)![1]!
      const [cjk, system] = [/'Noto Sans (Mono )?CJK/, /(?<!-)sans-serif|(?<!-)monospace/].map(
        (it) => list.search(it),
      )
      return cjk! > 0 && system! > 0 && cjk! < system!
    })
  }
  expect(fonts(':root')).toEqual([false, false])
  expect(fonts(':root:lang(zh)')).toEqual([true, true])
})
