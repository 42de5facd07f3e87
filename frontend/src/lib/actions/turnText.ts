/** What happened in a turn, as Markdown. */
import MarkdownIt from 'markdown-it'
import { commandResult } from '../tools/localCommand'
import { problemWords } from '../i18n/problems'
import { argument } from '../model/arguments'
import type { Entry } from '../model/entries'
import { markHidden } from '../model/visible'
import { outcome } from '../tools/describe'
import { own } from './messages'

/** How much of a call's line is copied. */
const longestLine = 200

/** A text on one line as code, whatever it contains. */
export function code(text: string): string {
  const words = markHidden(text.replace(/\s+/g, ' ').trim())
  const line = words.length > longestLine ? `${words.slice(0, longestLine)}…` : words
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length))
  const ticks = '`'.repeat(longest + 1)
  const pad = longest > 0 ? ' ' : ''
  return ticks + pad + line + pad + ticks
}

export const quoted = (text: string): string =>
  text
    .trim()
    .split(/\r\n?|\n/)
    .map((line) => (line ? `> ${line}` : '>'))
    .join('\n')

// The copy may be rendered as HTML, in which a comment without an end hides the rest.
const markdown = new MarkdownIt({ html: true })

/** A Markdown text after which other text begins on its own: code and comments without an end get one. */
export function closed(text: string): string {
  const source = text.trim()
  const fence = markdown.parse(source, {}).findLast(({ type }) => type === 'fence')
  const ends = ['', ...(fence ? [`\n${fence.markup}`] : []), '\n-->']
  const end = ends.find((candidate) => {
    const [open, inline] = markdown.parse(`${source}${candidate}\n\nnext`, {}).slice(-3)
    return open?.type === 'paragraph_open' && open.level === 0 && inline?.content === 'next'
  })
  return end === undefined ? quoted(source) : source + end
}

const call = (words: string, result: string) => `- ${code(words)}${result && ` — ${result}`}`

/** What an entry adds to its turn; empty if it says nothing. */
function said(entry: Entry, text: string): string {
  if (entry.type === 'prompt') return quoted(text)
  if (entry.type === 'answer') return text.trim() && closed(text)
  if (entry.type === 'tool') {
    const { text: result, added = 0, removed = 0 } = outcome(entry)
    const counts = added + removed > 0 ? `+${added} −${removed}` : ''
    const words = `${entry.tool} ${argument(entry.tool, entry.input)}`
    return call(words, [result, counts].filter(Boolean).join(' '))
  }
  if (entry.type === 'command') return call(`!${entry.command}`, commandResult(entry).text)
  if (entry.type === 'notice' && entry.notice === 'error') {
    return `- ${own('failed', { message: code(problemWords(entry.failure).message) })}`
  }
  return ''
}

/** Prompts are quoted, answers are as they were written, and each call is a line. `texts` has the texts of prompts and answers. */
export function turnMarkdown(
  entries: readonly Entry[],
  texts: ReadonlyMap<Entry, string> = new Map(),
): string {
  let markdown = ''
  let wasLine = false
  for (const entry of entries) {
    const block = said(entry, texts.get(entry) ?? '')
    if (!block) continue
    const isLine = entry.type !== 'prompt' && entry.type !== 'answer'
    markdown += (markdown && (isLine && wasLine ? '\n' : '\n\n')) + block
    wasLine = isLine
  }
  return markdown
}
