/** Renders a model's Markdown as blocks of HTML that are safe to insert. */
import DOMPurify from 'dompurify'
import MarkdownIt, { type Token } from 'markdown-it'
import { language } from '../i18n/i18n.svelte'
import { withoutBidi } from '../model/visible'
import { fileButton, piecesOf, placeIn } from './files'
import { notes } from './footnotes'
import { loadedParts } from './engine.svelte'
import { type Count, formulaHTML } from './formula'
import { escapeHTML, highlight } from './highlight'
import { Fences, nestedFence } from './nestedFence'
import { memo } from './memo'
import { mathAttributes, mathTags } from './mathml'
import { type Formula, maths } from './maths'

/** A block and its place in the whole text, by which a page knows it again. */
export type Block = { at: number } & ({ kind: 'html'; html: string } | Code)

/** Code, with its HTML as long as it is not coloured, which it is not while it is open: it still grows. */
type Code = { kind: 'code'; language: string; code: string; html: string; open: boolean }

const markdown = new MarkdownIt({
  html: false,
  linkify: true,
  highlight: (code, language) => highlight(code, language),
})

/** Whether a URL becomes a link. All other URLs stay text. */
export const isWebLink = (url: string) => /^https?:\/\/[^\s/]/i.test(url)
/** The place in a file that a link leads to; empty if it leads elsewhere. */
function linkedPlace(url: string): string {
  try {
    const path = decodeURI(url)
    return placeIn(path) ? path : ''
  } catch {
    return ''
  }
}
markdown.validateLink = (url) => isWebLink(url) || linkedPlace(url) !== ''
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false })

// An image would send a request to a server of the model's choice, so it becomes a link.
markdown.renderer.rules.image = (tokens, index) => {
  const image = tokens[index]!
  const url = String(image.attrGet('src') ?? '')
  const source = escapeHTML(url)
  const text = escapeHTML(image.content) || source
  if (!isWebLink(url)) return `![${escapeHTML(image.content)}](${source})`
  return `<a href="${source}">${text}</a>`
}

// A link's own title could claim another address.
markdown.renderer.rules.link_open = (tokens, index) =>
  `<a href="${escapeHTML(String(tokens[index]!.attrGet('href') ?? ''))}">`
markdown.renderer.rules.file_open = (tokens, index) =>
  `<button class="file-link" title="${escapeHTML(tokens[index]!.content)}">`
markdown.renderer.rules.file_close = () => '</button>'

// The parser aligns cells by style attributes, which the page's content security policy blocks.
for (const rule of ['th_open', 'td_open']) {
  markdown.renderer.rules[rule] = (tokens, index) => {
    const align = /text-align:\s*(\w+)/.exec(String(tokens[index]!.attrGet('style') ?? ''))?.[1]
    return `<${tokens[index]!.tag}${align ? ` class="to-${align}"` : ''} dir="auto">`
  }
}

// A date is one word, at whose hyphens no line ends.
const plainText = markdown.renderer.rules.text!
markdown.renderer.rules.text = (...given) =>
  plainText(...given).replace(/\b\d{4}-\d\d-\d\d\b/g, '<span class="date">$&</span>')

// Each block has the direction of its own text, and a list or a quotation the one of its first text: HTML
// does not look into parts that have a direction of their own. Code always runs from left to right.
const directed = new Set(['paragraph', 'heading', 'bullet_list', 'ordered_list', 'blockquote'])
markdown.core.ruler.push('direction', ({ tokens }) => {
  for (const token of tokens) {
    const [, name = ''] = /^(.*)_open$/.exec(token.type) ?? []
    if (token.level === 0 && directed.has(name)) token.attrSet('dir', 'auto')
  }
})

// "- [x] done" becomes a ticked box, which is named after its item and cannot be changed.
markdown.core.ruler.after('inline', 'tasks', ({ tokens, Token }) => {
  tokens.forEach((token, index) => {
    const [text] = token.children ?? []
    if (token.type !== 'inline' || tokens[index - 2]?.type !== 'list_item_open') return
    const box = text?.type === 'text' ? /^\[([ xX])\](?= )/.exec(text.content) : null
    if (!text || !box) return
    text.content = text.content.slice(3)
    const name = token.content.slice(4, 204)
    const mark = Object.assign(new Token('task_box', '', 0), { content: name, info: box[1] })
    token.children!.unshift(mark)
    tokens[index - 2]!.attrSet('class', 'task')
  })
})

markdown.renderer.rules.task_box = (tokens, index) => {
  const { content, info } = tokens[index]!
  const isDone = info !== ' '
  const name = escapeHTML(content)
  return `<span role="checkbox" aria-checked="${isDone}" aria-disabled="true" aria-label="${name}">${isDone ? '☑' : '☐'}</span>`
}

// Places in files can be opened, also those in code, but not those in links, which lead elsewhere.
markdown.core.ruler.push('files', ({ tokens, Token }) => {
  for (const token of tokens) {
    let inLink = 0
    let isFile = false
    token.children = (token.children ?? []).flatMap((child) => {
      if (child.type === 'link_open' || child.type === 'link_close') {
        inLink += child.nesting
        const target = linkedPlace(String(child.attrGet('href') ?? ''))
        if (child.nesting > 0) isFile = target !== ''
        if (!isFile) return [child]
        const type = child.nesting > 0 ? 'file_open' : 'file_close'
        return [Object.assign(new Token(type, '', child.nesting), { content: target })]
      }
      if (inLink > 0 || child.type !== 'text') return [child]
      return piecesOf(child.content).map(({ text, place }) =>
        Object.assign(new Token(place ? 'file' : 'text', '', 0), { content: text }),
      )
    })
  }
})
markdown.renderer.rules.file = (tokens, index) => fileButton(tokens[index]!.content)
const inlineCode = markdown.renderer.rules.code_inline!
markdown.renderer.rules.code_inline = (...given) => {
  const { content } = given[0][given[1]]!
  return placeIn(content) ? `<code>${fileButton(content)}</code>` : inlineCode(...given)
}

markdown.use(maths).use(notes).use(nestedFence)
type Env = { maths?: Count; open?: boolean }
const formula = (given: unknown, env: Env) => formulaHTML(given as Formula, (env.maths ??= {}))
markdown.renderer.rules.maths = (tokens, index, _options, env) =>
  formula(tokens[index]!.meta, env as Env)
markdown.renderer.rules.maths_block = (tokens, index, _options, env) =>
  `<p>${formula(tokens[index]!.meta, env as Env)}</p>\n`

const policy = {
  ALLOWED_TAGS: [
    ...['p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'blockquote'],
    ...['strong', 'em', 's', 'a', 'code', 'pre', 'span', 'button', 'sup'],
    ...['table', 'thead', 'tbody', 'tr', 'th', 'td'],
    ...mathTags,
  ],
  ALLOWED_ATTR: ['href', 'class', 'start', 'dir', 'role', 'title', ...mathAttributes],
  ALLOW_DATA_ATTR: false,
  ALLOWED_URI_REGEXP: /^https?:/i,
  // Otherwise their values would have to be URLs as well.
  ADD_URI_SAFE_ATTR: [
    ...['dir', 'start', 'role', 'aria-checked', 'aria-disabled', 'aria-label', 'title'],
    ...mathAttributes,
  ],
}

// An instance of its own reads the policy once, not for each block.
const purifier = DOMPurify(window)
purifier.setConfig(policy)

// A block is rendered again when it is scrolled into view, and when its answer is complete.
const clean = memo((html) => purifier.sanitize(html), 1000)

type Parsed = { block: Block; endLine: number; nextLine: number }

/** A block that becomes HTML when it is first drawn, because most of a long text is not in view. */
function prose(at: number, tokens: Token[], env: Env): Block {
  let html: string | undefined
  return {
    at,
    kind: 'html',
    get html() {
      return (html ??= clean(markdown.renderer.render(tokens, markdown.options, env)))
    },
  }
}

/**
 * Finds the top-level blocks of a text that begins at a place in the whole text. In an open text, which still
 * grows, code in an unfinished fence is open, unless all blocks are whole, and footnotes stay as they are written,
 * because they belong to the whole text.
 */
function parse(text: string, open: boolean, begin = 0, whole = !open): Parsed[] {
  const env: Env = { open }
  if (open) markdown.block.ruler.disable('footnote_def')
  else markdown.block.ruler.enable('footnote_def')
  const starts = lineStarts(text)
  let at = -1
  const tokens = markdown.parse(withoutBidi(text), env)
  const parsed: Parsed[] = []
  for (let from = 0; from < tokens.length;) {
    let to = from + 1
    // Footnotes inside footnotes can leave a block open.
    for (let depth = tokens[from]!.nesting; depth > 0 && to < tokens.length; to++) {
      depth += tokens[to]!.nesting
    }
    const first = tokens[from]!
    const isLast = to === tokens.length
    at = Math.max(at + 1, begin + (starts[first.map?.[0] ?? 0] ?? 0))
    let block: Block
    if (first.type === 'fence') {
      const language = first.info.trim().split(/\s+/)[0] ?? ''
      const code = first.content.replace(/\n$/, '')
      block = { at, kind: 'code', language, code, html: escapeHTML(code), open: !whole && isLast }
    } else {
      block = prose(at, tokens.slice(from, to), env)
    }
    parsed.push({ block, endLine: first.map?.[1] ?? 0, nextLine: tokens[to]?.map?.[0] ?? -1 })
    from = to
  }
  return parsed
}

const cache = new Map<string, Block[]>()
const cacheSize = 200

/** What the same text is rendered differently for: what draws it, and the language of what is added. */
const circumstances = () => `${loadedParts()} ${language()} `

/** The blocks of a complete text. Those of the latest texts are cached. */
export function renderMarkdown(text: string): Block[] {
  const key = circumstances() + text
  const blocks = cache.get(key) ?? parse(text, false).map((p) => p.block)
  cache.delete(key)
  cache.set(key, blocks)
  if (cache.size > cacheSize) cache.delete(cache.keys().next().value!)
  return blocks
}

/** How much of a long text is rendered first, which is more than a screen shows, and in each piece before it. */
const [newest, piece] = [4000, 2000]

/**
 * Renders a text that grows at its end. A block is finished once another block
 * begins on a complete line after it. It is not parsed again then, so the work per
 * update only depends on the open block. Of a text that is long at first, as when a
 * session is opened in the middle of an answer, the end is rendered at once and the
 * rest by earlier.
 */
export class GrowingMarkdown {
  #text = ''
  #from = 0
  /** Where what is rendered begins in the text. */
  #start = 0
  #finished: Block[] = []
  /** Where the open block begins in the text. */
  #offset = 0
  #for = ''

  /** Takes the text so far, of which only the part after a place may be left. A whole block stays whole. */
  update(text: string, from = 0): Block[] {
    const now = circumstances()
    if (now !== this.#for) this.#restart()
    this.#for = now
    this.#leave(from)
    if (this.#text === '' || !text.startsWith(this.#text.slice(0, this.#offset))) {
      this.#start = blockStart(text, text.length - newest)
      this.#restart()
    }
    this.#text = text
    const tail = text.slice(this.#offset)
    const parsed = parse(tail, true, this.#from + this.#offset)
    const starts = lineStarts(tail)
    const lastLine = starts.length - 1
    let done = 0
    while (done < parsed.length - 1 && parsed[done]!.nextLine < lastLine) done++
    const blocks = parsed.map((p) => p.block)
    if (done > 0) {
      this.#finished.push(...blocks.slice(0, done))
      this.#offset += starts[parsed[done - 1]!.nextLine]!
    }
    return [...this.#finished, ...blocks.slice(done)]
  }

  /** Whether a part of the text is not rendered yet. */
  get isPartial(): boolean {
    return this.#start > 0
  }

  /** Renders a piece more of the text, which the next update returns. */
  earlier(): void {
    const from = blockStart(this.#text, this.#start - piece)
    const text = this.#text.slice(from, this.#start)
    this.#finished.unshift(...parse(text, true, this.#from + from, true).map((p) => p.block))
    this.#start = from
  }

  /** Leaves out what is before a place, and the block that the place is in. */
  #leave(from: number): void {
    const gone = from - this.#from
    if (gone === 0) return
    this.#from = from
    this.#text = this.#text.slice(gone)
    this.#offset -= gone
    this.#start = Math.max(0, this.#start - gone)
    if (gone < 0 || this.#offset < 0) this.#text = '' // as if it were new
    this.#finished = this.#finished.filter(({ at }) => at >= from)
  }

  #restart(): void {
    this.#finished = []
    this.#offset = this.#start
  }
}

/** The last place up to another one where a block surely begins: a line at the margin, after an empty one, outside code. */
function blockStart(text: string, last: number): number {
  let begin = 0
  const fences = new Fences()
  let isAfterEmpty = false
  for (let at = 0, end = text.indexOf('\n'); at <= last && end >= 0;) {
    const line = text.slice(at, end)
    if (isAfterEmpty && /^[^\s\d*+>[-]/.test(line)) begin = at
    fences.take(line)
    isAfterEmpty = fences.depth === 0 && line.trim() === ''
    at = end + 1
    end = text.indexOf('\n', at)
  }
  return begin
}

/** Where the lines begin, which may end with a carriage return alone. */
function lineStarts(text: string): number[] {
  const ends = text.matchAll(/\r\n?|\n/g)
  return [0, ...Array.from(ends, ({ index, 0: end }) => index + end.length)]
}
