/**
 * Draws diagrams with Mermaid, in a sandboxed document of its own (diagram.html), because Mermaid needs
 * inline styles. The page asks with a Drawing and gets a Drawn. It draws text that a model wrote.
 */
import mermaid from 'mermaid'
import type { Colours, Drawing, Drawn } from './lib/markdown/drawing'
import { mostEdges } from './lib/markdown/drawing'

// A picture cannot load the fonts of the page.
const font = 'system-ui, sans-serif'

/**
 * The kinds of diagrams that are drawn, as Mermaid names them. Others have numbers that make a short text
 * take forever, or icons that would be loaded.
 */
const kinds = [
  ...['flowchart', 'flowchart-v2', 'sequence', 'class', 'classDiagram', 'state', 'stateDiagram'],
  ...['er', 'gantt', 'pie', 'gitGraph', 'timeline', 'journey', 'quadrantChart', 'xychart'],
  ...['mindmap', 'requirement'],
]

function settings(colours: Colours): Parameters<typeof mermaid.initialize>[0] {
  const { isDark, sheet, well, line, control, ink, inkSoft, hues } = colours
  return {
    startOnLoad: false,
    securityLevel: 'strict',
    suppressErrorRendering: true,
    deterministicIds: true,
    maxEdges: mostEdges,
    // Text that is HTML would not be drawn in a picture.
    htmlLabels: false,
    flowchart: { htmlLabels: false, useMaxWidth: false },
    class: { htmlLabels: false, useMaxWidth: false },
    gantt: { useWidth: 800 },
    fontFamily: font,
    theme: 'base',
    themeVariables: {
      darkMode: isDark,
      background: well,
      fontFamily: font,
      fontSize: '14px',
      primaryColor: sheet,
      primaryTextColor: ink,
      primaryBorderColor: control,
      secondaryColor: well,
      secondaryTextColor: ink,
      secondaryBorderColor: line,
      tertiaryColor: well,
      tertiaryTextColor: ink,
      tertiaryBorderColor: line,
      lineColor: inkSoft,
      textColor: ink,
      titleColor: ink,
      noteBkgColor: sheet,
      noteTextColor: ink,
      noteBorderColor: line,
      edgeLabelBackground: well,
      ...hued(hues, sheet),
    },
    // The text of a diagram changes none of these.
    secure: [
      ...['secure', 'securityLevel', 'startOnLoad', 'suppressErrorRendering', 'deterministicIds'],
      ...['maxTextSize', 'maxEdges', 'htmlLabels', 'flowchart', 'class', 'gantt', 'sequence'],
      ...['theme', 'themeVariables', 'themeCSS', 'fontFamily', 'altFontFamily', 'fontSize'],
      ...['dompurifyConfig', 'layout', 'look', 'elk', 'legacyMathML', 'forceLegacyMathML'],
    ],
  }
}

/** The colours of slices, branches and periods, and of the text on them. */
function hued(hues: readonly string[], text: string): Record<string, string> {
  const all: Record<string, string> = {
    pieSectionTextColor: text,
    pieStrokeColor: text,
    pieOuterStrokeColor: text,
    pieOpacity: '1',
  }
  for (let n = 0; n < 12; n++) {
    const hue = hues[n % hues.length]!
    all[`pie${n + 1}`] = hue
    all[`cScale${n}`] = hue
    all[`cScaleLabel${n}`] = text
    if (n < 8) {
      all[`git${n}`] = hue
      all[`gitBranchLabel${n}`] = text
    }
  }
  return all
}

/** The drawing as a picture that stands alone: it has a size, and only what is drawn. */
function alone(markup: string): string {
  const box = document.createElement('div')
  box.innerHTML = markup
  const svg = box.querySelector('svg')
  if (!svg) throw new Error('Nothing was drawn.')
  const { width, height } = svg.viewBox.baseVal
  svg.setAttribute('width', String(Math.ceil(width)))
  svg.setAttribute('height', String(Math.ceil(height)))
  svg.removeAttribute('style')
  // A link may place what is in it, so it stays, without an address.
  for (const link of svg.querySelectorAll('a')) {
    for (const name of ['href', 'xlink:href', 'target']) link.removeAttribute(name)
  }
  for (const extra of svg.querySelectorAll('script, image, foreignObject')) extra.remove()
  return new XMLSerializer().serializeToString(svg)
}

/** The line that an error names. Mermaid counts without comments and settings, and past the end. */
function lineOf(error: string, source: string): number | undefined {
  const line = Number(/line (\d+)/i.exec(error)?.[1])
  if (!(line > 0) || /^\s*---|%%/.test(source)) return undefined
  return Math.min(line, source.trimEnd().split('\n').length)
}

/** Shapes that are pictures. The policy would not load them. */
const loads = /@\{[^}]*\bimg\b/

/** What would be HTML in a label, except a line break. A word joiner, which is not seen, makes it text. */
const html = /(?<!<)<(?=[a-z/!?])(?!\/?br\b)/gi

/** The menus of links in a sequence diagram, which need handlers in attributes. */
const menus = /^[ \t]*(links?|properties|details)[ \t].*$/gim

const drawable = (source: string): string =>
  (mermaid.detectType(source) === 'sequence' ? source.replace(menus, '') : source).replace(
    html,
    '<\u2060',
  )

async function draw({ id, source, colours }: Drawing): Promise<Drawn> {
  try {
    mermaid.initialize(settings(colours))
    if (!kinds.includes(mermaid.detectType(source)) || loads.test(source))
      return { id, failure: 'unknown' }
    const { svg } = await mermaid.render('diagram', drawable(source))
    return { id, svg: alone(svg) }
  } catch (error) {
    const text = String(error)
    if (/^UnknownDiagramError/.test(text)) return { id, failure: 'unknown' }
    if (/limit exceeded/i.test(text)) return { id, failure: 'too_large' }
    const line = lineOf(text, source)
    return { id, failure: 'unread', ...(line && { line }) }
  }
}

addEventListener('message', (event) => {
  if (event.source !== parent) return
  void draw(event.data as Drawing).then((drawn) => parent.postMessage(drawn, '*'))
})
