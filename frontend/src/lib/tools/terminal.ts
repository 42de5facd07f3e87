/** Terminal output as coloured text: SGR colours are kept, other controls are not. */

export type Span = { text: string; classes: string }

type Style = { color: string; bold: boolean; dim: boolean }

const plain: Style = { color: '', bold: false, dim: false }
const names = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']

// CSI sequences; OSC, DCS, SOS, PM and APC strings to their terminator; other escapes.
const escapes =
  /\x1b\[([0-?]*)[ -/]*([@-~])|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$)|\x1b[ -/]*[0-~]?/g

/** Splits output into spans; a carriage return starts its line over. */
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

/** The same without its colours. */
export const plainTerminal = (output: string): string =>
  parseTerminal(output)
    .map(({ text }) => text)
    .join('')

/** What remains of each line after its carriage returns, as a screen would show it. */
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
  const classes = [style.color, style.bold && 'bold', style.dim && 'dim'].filter(Boolean).join(' ')
  const last = spans.at(-1)
  if (last?.classes === classes) last.text += text
  else spans.push({ text, classes })
}

function styled(style: Style, parameters: string): Style {
  const codes = parameters.split(/[;:]/).map(Number)
  let next = style
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i]!
    if (code === 0) next = plain
    else if (code === 1) next = { ...next, bold: true }
    else if (code === 2) next = { ...next, dim: true }
    else if (code === 22) next = { ...next, bold: false, dim: false }
    else if (code >= 30 && code <= 37) next = { ...next, color: names[code - 30]! }
    else if (code >= 90 && code <= 97) next = { ...next, color: names[code - 90]! }
    else if (code === 39) next = { ...next, color: '' }
    // Palette and true colours are skipped with their parameters.
    else if (code === 38 || code === 48) i += codes[i + 1] === 5 ? 2 : 4
  }
  return next
}
