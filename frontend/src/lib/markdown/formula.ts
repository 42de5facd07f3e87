/** Draws formulas as MathML. KaTeX is loaded with the first formula; until then a formula is shown as it was written. */
import { language } from '../i18n/i18n.svelte'
import { withoutBidi } from '../model/visible'
import { type Engine, formulaEngine, loadFormulas } from './engine.svelte'
import { escapeHTML } from './highlight'
import { Kept } from './kept'
import type { Formula } from './maths'
import { own } from './messages'

/** How many formulas of a message are drawn, and how many characters of them. The rest stay as they were written. */
const most = { formulas: 500, characters: 30_000 }
/** A larger result is not drawn: a formula can be small and its result large. */
const largest = 400_000

/** A formula cannot define commands: short definitions make endless formulas, and none outlives its formula anyway. */
const definition =
  /\\(?:[gex]?def|let|futurelet|(?:re)?newcommand|providecommand|global|long)(?![A-Za-z])/

/** What was drawn already, by how it was written. The text of a growing message is rendered many times. */
const drawn = new Kept(1000, 4_000_000)

/** Counts the formulas of one message. */
export type Count = { formulas?: number; characters?: number }

/** A formula as HTML, which is still to be sanitised. */
export function formulaHTML(formula: Formula, count: Count): string {
  count.formulas = (count.formulas ?? 0) + 1
  count.characters = (count.characters ?? 0) + formula.tex.length
  const isMany = count.formulas > most.formulas || count.characters > most.characters
  const engine = formulaEngine()
  if (!engine) void loadFormulas()
  if (!engine || isMany) return escapeHTML(formula.source)
  const key = `${language()} ${formula.source}`
  let html = drawn.get(key)
  if (html === undefined) {
    html = draw(engine, formula)
    drawn.set(key, html)
  }
  return html || unread(formula.source, own('too_large'))
}

/** An empty result is too large. */
function draw(engine: Engine, { tex, display, source }: Formula): string {
  let refused = definition.exec(tex)?.[0]
  if (refused) return unread(source, own('refused', { command: refused }))
  try {
    const html = engine(tex, {
      displayMode: display,
      output: 'mathml',
      throwOnError: true,
      strict: 'ignore',
      maxSize: 20,
      maxExpand: 500,
      trust: ({ command }) => {
        refused = command
        return false
      },
    })
    if (refused) return unread(source, own('refused', { command: refused }))
    if (html.length > largest) return ''
    return `<span class="maths${display ? ' display' : ''}">${withoutBidi(html)}</span>`
  } catch (error) {
    // A RangeError means that it is nested too deeply.
    if (!(error instanceof Error) || error instanceof RangeError) return ''
    const reason = error.message.replace(/^KaTeX parse error: /, '').replace(/\u0332/g, '')
    return unread(source, own('unread', { reason: reason.slice(0, 300) }))
  }
}

const unread = (source: string, reason: string) =>
  `<span class="unread" title="${escapeHTML(reason)}">${escapeHTML(source)}</span>`
