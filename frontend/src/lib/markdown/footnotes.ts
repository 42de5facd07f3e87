/** Footnotes. They have no ids: a message finds its own footnotes by their numbers, so that messages cannot take each other's. */
import type { MarkdownIt } from 'markdown-it'
import footnotes from 'markdown-it-footnote'
import { escapeHTML } from './highlight'
import { own } from './messages'

type Notes = { footnotes?: { refs?: Record<string, number>; list?: Note[] } }
type Note = { label: string; count: number }

export function notes(markdown: MarkdownIt): void {
  markdown.use(footnotes)
  // "^[a-z]" in prose is a pattern.
  markdown.inline.ruler.disable('footnote_inline')

  // A footnote that nothing refers to would disappear.
  markdown.core.ruler.before('footnote_tail', 'unused_notes', ({ env }) => {
    const { refs = {}, list = [] } = (env as Notes).footnotes ?? {}
    for (const [key, at] of Object.entries(refs)) {
      if (at < 0) refs[key] = list.push({ label: key.slice(1), count: 0 }) - 1
    }
    if (list.length > 0) (env as Notes).footnotes!.list = list
  })

  const numberOf = (token: { meta: unknown } | undefined) => (token!.meta as { id: number }).id + 1
  const { rules } = markdown.renderer
  rules.footnote_ref = (tokens, at) => {
    const n = numberOf(tokens[at])
    return `<sup><button class="note-link" aria-label="${escapeHTML(own('note', { n }))}">${n}</button></sup>`
  }
  rules.footnote_block_open = () => `<ol class="notes" aria-label="${escapeHTML(own('notes'))}">\n`
  rules.footnote_block_close = () => '</ol>\n'
  rules.footnote_open = () => '<li dir="auto">'
  rules.footnote_close = () => '</li>\n'
  rules.footnote_anchor = (tokens, at, _options, env) => {
    const n = numberOf(tokens[at])
    if (!(env as Notes).footnotes?.list?.[n - 1]?.count) return ''
    return ` <button class="note-back" aria-label="${escapeHTML(own('back', { n }))}">↩\uFE0E</button>`
  }
}

/** What a button of a footnote leads to within the parts of its message: the footnote, or the place that refers to it. */
export function noteTarget(parts: readonly Element[], button: Element): HTMLElement | undefined {
  const all = (what: string) => parts.flatMap((it) => [...it.querySelectorAll<HTMLElement>(what)])
  const [links, items] = [all('button.note-link'), all('ol.notes > li')]
  if (button.matches('.note-link')) return items[Number(button.textContent) - 1]
  const item = items.find((each) => each.contains(button))
  if (!item) return undefined
  const n = String(items.indexOf(item) + 1)
  const which = [...item.querySelectorAll('button.note-back')].indexOf(button)
  return links.filter((link) => link.textContent === n)[which]
}
