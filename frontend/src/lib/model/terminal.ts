/** Turns terminal output into styled text. SGR colours and styles are kept, other control sequences are dropped. */

/** The classes name colours of the palette. `color` and `background` hold other colours, as CSS. */
export type Span = { text: string; classes: string; color?: string; background?: string }

/** A colour is a name in the palette, or CSS. */
type Style = {
  color: string
  background: string
  bold: boolean
  dim: boolean
  italic: boolean
  underline: boolean
  strike: boolean
  reverse: boolean
}

const plain: Style = {
  color: '',
  background: '',
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  strike: false,
  reverse: false,
}
const names = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']

// CSI sequences; OSC, DCS, SOS, PM and APC strings to their terminator; other escapes.
const escapes =
  /\x1b\[([0-?]*)[ -/]*([@-~])|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$)|\x1b[ -/]*[0-~]?/g

/** Splits output into spans. A carriage return overwrites its line. */
export function parseTerminal(output: string): Span[] {
  const spans: Span[] = []
  let style = plain
  let from = 0
  const text = overwritten(output)
  for (const match of text.matchAll(escapes)) {
    push(spans, text.slice(from, match.index), style)
    if (match[2] === 'm') style = styled(style, match[1] ?? '')
    from = match.index + match[0].length
  }
  push(spans, text.slice(from), style)
  return spans
}

/** The output as plain text. */
export const plainTerminal = (output: string): string =>
  parseTerminal(output)
    .map(({ text }) => text)
    .join('')

/** What a screen shows of each line after its carriage returns. */
function overwritten(output: string): string {
  if (!output.includes('\r')) return output
  return output
    .replace(/\r+\n/g, '\n')
    .split('\n')
    .map((line) => line.slice(line.replace(/\r+$/, '').lastIndexOf('\r') + 1))
    .join('\n')
}

function push(spans: Span[], raw: string, style: Style): void {
  const text = raw.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, '')
  if (!text) return
  const span = spanOf(text, style)
  const last = spans.at(-1)
  const isSame =
    last?.classes === span.classes &&
    last.color === span.color &&
    last.background === span.background
  if (isSame) last.text += text
  else spans.push(span)
}

function spanOf(text: string, style: Style): Span {
  const { bold, dim, italic, underline, strike } = style
  let { color, background } = style
  if (style.reverse) [color, background] = [background || 'ground', color || 'ink']
  // On a coloured ground, black, white and the default colour all become a readable colour.
  if (background && ['', 'black', 'white'].includes(color)) color = 'on'
  const flags = { bold, dim, italic, underline, strike }
  const classes = Object.entries(flags).flatMap(([name, isOn]) => (isOn ? [name] : []))
  const span: Span = { text, classes: '' }
  if (isMixed(color)) span.color = color
  else if (color === 'on' && isMixed(background)) span.color = readableOn(background)
  else if (color) classes.unshift(`fg-${color}`)
  if (isMixed(background)) span.background = background
  else if (background) classes.unshift(`bg-${background}`)
  span.classes = classes.join(' ')
  return span
}

const isMixed = (color: string) => color.startsWith('rgb')

function readableOn(background: string): string {
  const [red = 0, green = 0, blue = 0] = (background.match(/\d+/g) ?? []).map(Number)
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? 'rgb(0 0 0)' : 'rgb(255 255 255)'
}

const switches: Record<number, Partial<Style>> = {
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { reverse: true },
  9: { strike: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { reverse: false },
  29: { strike: false },
  39: { color: '' },
  49: { background: '' },
}

/** The style after an SGR sequence with these parameters. */
function styled(style: Style, parameters: string): Style {
  const groups = parameters.split(';')
  let next = style
  for (let i = 0; i < groups.length; i++) {
    const [code = 0, ...parts] = groups[i]!.split(':').map(Number)
    if (code === 0) next = plain
    else if (code === 4 && parts[0] === 0) next = { ...next, underline: false }
    else if (code === 38 || code === 48) {
      // The colour follows in the same group (after colons) or in the next groups.
      const isOwn = parts.length > 0
      const given = isOwn ? parts : groups.slice(i + 1, i + 5).map(Number)
      if (!isOwn) i += given[0] === 5 ? 2 : 4
      const color = mixed(
        isOwn && given[0] === 2 && given.length > 4 ? [2, ...given.slice(2)] : given,
      )
      if (color) next = { ...next, [code === 38 ? 'color' : 'background']: color }
    } else if (code >= 30 && code <= 37) next = { ...next, color: names[code - 30]! }
    else if (code >= 90 && code <= 97) next = { ...next, color: names[code - 90]! }
    else if (code >= 40 && code <= 47) next = { ...next, background: names[code - 40]! }
    else if (code >= 100 && code <= 107) next = { ...next, background: names[code - 100]! }
    else next = { ...next, ...switches[code] }
  }
  return next
}

/** A colour of the 256-colour palette or a true colour; empty if the numbers are not a colour. */
function mixed([kind, ...numbers]: readonly number[]): string {
  if (numbers.some((n) => !(n >= 0 && n <= 255))) return ''
  const [first, green, blue] = numbers
  if (kind === 2 && blue !== undefined) return `rgb(${first} ${green} ${blue})`
  if (kind !== 5 || first === undefined) return ''
  if (first < 16) return names[first % 8]!
  if (first >= 232) {
    const gray = 8 + 10 * (first - 232)
    return `rgb(${gray} ${gray} ${gray})`
  }
  const level = (n: number) => (n === 0 ? 0 : 55 + 40 * n)
  const cube = first - 16
  return `rgb(${level(Math.floor(cube / 36))} ${level(Math.floor(cube / 6) % 6)} ${level(cube % 6)})`
}
