/** Diagrams, which a document of its own draws in a hidden frame. */
import { answerTo, isTooLarge, type Colours, type Drawn } from './drawing'

/** How long a drawing may take before it is given up, in milliseconds. */
const patience = 30_000

const drawn = new Map<string, Promise<Drawn>>()
const mostDrawn = 20
/** Drawings are made one after another. */
let last: Promise<unknown> = Promise.resolve()
let count = 0

/** Draws a diagram in the page's colours. The latest drawings are kept. */
export function drawDiagram(source: string): Promise<Drawn> {
  if (isTooLarge(source)) return Promise.resolve({ id: '', failure: 'too_large' })
  const colours = coloursOf(document.documentElement)
  const key = JSON.stringify([colours, source])
  const known = drawn.get(key)
  if (known) return known
  const drawing = last.then(() => drawInFrame(source, colours))
  last = drawing
  drawn.set(key, drawing)
  if (drawn.size > mostDrawn) drawn.delete(drawn.keys().next().value!)
  return drawing
}

function drawInFrame(source: string, colours: Colours): Promise<Drawn> {
  const id = `diagram-${++count}`
  const frame = document.createElement('iframe')
  // Its origin is opaque: it reaches neither the page nor what the page has stored.
  frame.setAttribute('sandbox', 'allow-scripts')
  frame.setAttribute('aria-hidden', 'true')
  frame.tabIndex = -1
  frame.className = 'sr-only'
  frame.src = '/diagram.html'
  return new Promise<Drawn>((resolve) => {
    const hear = (event: MessageEvent) => {
      const answer = event.source === frame.contentWindow && answerTo(id, event.data)
      if (answer) end(answer)
    }
    const end = (answer: Drawn) => {
      clearTimeout(timer)
      removeEventListener('message', hear)
      frame.remove()
      resolve(answer)
    }
    const timer = setTimeout(() => end({ id, failure: 'slow' }), patience)
    addEventListener('message', hear)
    // An opaque origin has no name to send to.
    frame.onload = () => frame.contentWindow?.postMessage({ id, source, colours }, '*')
    document.body.append(frame)
  })
}

function coloursOf(root: HTMLElement): Colours {
  const style = getComputedStyle(root)
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = 1
  const pen = canvas.getContext('2d', { willReadFrequently: true })
  /** A colour of the page as Mermaid reads one; it knows no oklch. */
  const colour = (name: string) => {
    if (!pen) return '#808080'
    pen.fillStyle = style.getPropertyValue(name).trim()
    pen.fillRect(0, 0, 1, 1)
    const [red, green, blue] = pen.getImageData(0, 0, 1, 1).data
    return `rgb(${red}, ${green}, ${blue})`
  }
  return {
    isDark: style.colorScheme === 'dark',
    sheet: colour('--sheet'),
    well: colour('--well'),
    line: colour('--line-strong'),
    control: colour('--control'),
    ink: colour('--ink'),
    inkSoft: colour('--ink-soft'),
    hues: ['blue', 'yellow', 'green', 'magenta', 'cyan', 'red'].map((hue) => colour(`--${hue}`)),
  }
}
