/**
 * Finds formulas in Markdown: $…$, $$…$$, \(…\) and \[…\]. The rules are as careful as those of pandoc
 * and GitHub, so that prices, variables of a shell and escaped brackets stay text.
 */
import type { MarkdownIt } from 'markdown-it'

/** A longer formula stays text. */
const longestFormula = 4000

/** What a token of the type `maths` carries in its meta: the formula, and how it was written. */
export type Formula = { tex: string; display: boolean; source: string }

/** Whether the text between two delimiters reads like a formula, not like prose or code. */
function isFormula(text: string): boolean {
  if (text.trim() === '' || text.length > longestFormula || text.includes('`')) return false
  if (/[\\^_={}]/.test(text)) return true
  if (/\p{Script=Han}/u.test(text)) return false
  const [first, ...more] = text.match(/\p{L}{2,}/gu) ?? []
  return first === undefined || (more.length === 0 && first === text && first.length <= 3)
}

/** The index of the next delimiter that is not escaped; -1 if there is none near enough. */
function endOf(text: string, close: string, from: number): number {
  const near = text.slice(from, from + longestFormula + close.length)
  for (let at = near.indexOf(close); at >= 0; at = near.indexOf(close, at + 1)) {
    let slashes = 0
    while (near[at - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return from + at
  }
  return -1
}

type Found = { tex: string; display: boolean; end: number }

/** $…$: it touches its delimiters, stays on its line, and no word or number touches it from outside. */
function dollar(text: string, at: number): Found | undefined {
  if (/[\p{L}\p{N}_]/u.test(text[at - 1] ?? '') && !/\p{Script=Han}/u.test(text[at - 1]!)) return
  if (text[at + 1] === '`') {
    const end = endOf(text, '`$', at + 2)
    const tex = text.slice(at + 2, end)
    return end > 0 && isFormula(tex) ? { tex, display: false, end: end + 2 } : undefined
  }
  const end = endOf(text, '$', at + 1)
  const tex = text.slice(at + 1, end)
  if (end < 0 || /^\s|\s$|\n/.test(tex) || /[A-Za-z0-9_{$]/.test(text[end + 1] ?? '')) return
  return isFormula(tex) ? { tex, display: false, end: end + 1 } : undefined
}

function dollars(text: string, at: number): Found | undefined {
  const end = endOf(text, '$$', at + 2)
  const tex = text.slice(at + 2, end)
  if (end < 0 || text[end + 2] === '$' || !isFormula(tex)) return
  return { tex, display: true, end: end + 2 }
}

/** \(…\) and \[…\], which are also how Markdown escapes brackets. */
function brackets(text: string, at: number): Found | undefined {
  const display = text[at + 1] === '['
  const end = endOf(text, display ? '\\]' : '\\)', at + 2)
  const tex = text.slice(at + 2, end)
  if (end < 0 || !isFormula(tex) || /[([:]/.test(text[end + 2] ?? '')) return
  if (display && !/[\\^_=+<>]/.test(tex)) return
  return { tex, display, end: end + 2 }
}

function formulaAt(text: string, at: number): Found | undefined {
  if (text[at] === '\\') return /[([]/.test(text[at + 1] ?? '') ? brackets(text, at) : undefined
  return text[at + 1] === '$' ? dollars(text, at) : dollar(text, at)
}

/** How many openings of a paragraph are tried, because each of them may search as far as a formula is long. */
const mostTries = 2000

export function maths(markdown: MarkdownIt): void {
  const tries = new WeakMap<object, number>()

  markdown.inline.ruler.before('escape', 'maths', (state, silent) => {
    const { src, pos } = state
    if (src[pos] !== '$' && src[pos] !== '\\') return false
    const run = /^\$*/.exec(src.slice(pos, pos + 1000))![0].length
    if (run > 2) {
      if (!silent) state.pending += '$'.repeat(run)
      state.pos += run
      return true
    }
    const tried = tries.get(state) ?? 0
    if (tried > mostTries) return false
    const found = formulaAt(src, pos)
    if (!found || found.end > state.posMax) {
      tries.set(state, tried + 1)
      // The second of two dollars begins nothing.
      if (run !== 2) return false
      if (!silent) state.pending += '$$'
      state.pos += 2
      return true
    }
    if (!silent) {
      const token = state.push('maths', '', 0)
      token.content = src.slice(pos, found.end)
      const { tex, display } = found
      token.meta = { tex: tex.trim(), display, source: token.content } satisfies Formula
    }
    state.pos = found.end
    return true
  })

  // Lines of their own from $$ to $$ or from \[ to \], without an empty line between them.
  markdown.block.ruler.before(
    'blockquote',
    'maths',
    (state, from, to, silent) => {
      const lineAt = (line: number) =>
        state.src.slice(state.bMarks[line]! + state.tShift[line]!, state.eMarks[line])
      const begin = lineAt(from)
      const open = begin.slice(0, 2)
      if (state.sCount[from]! - state.blkIndent >= 4 || !['$$', '\\['].includes(open)) return false
      const close = open === '$$' ? '$$' : '\\]'
      let source = ''
      for (let line = from; line < to && source.length <= longestFormula; line++) {
        const text = lineAt(line)
        if (line > from && (text.trim() === '' || state.sCount[line]! < state.blkIndent)) break
        const end = endOf(text, close, line === from ? 2 : 0)
        if (end < 0) {
          source += text + '\n'
          continue
        }
        const after = text.slice(end + 2).trim()
        const tex = (source + text.slice(0, end)).slice(2)
        const isOne = line === from
        if (!/^[.,;:]?$/.test(after) || tex.trim() === '') return false
        if (tex.includes('`') || (isOne && !isFormula(tex))) return false
        if (isOne && open !== '$$' && !/[\\^_=+<>]/.test(tex)) return false
        if (silent) return true
        const token = state.push('maths_block', '', 0)
        token.block = true
        token.map = [from, line + 1]
        token.content = source + text.trimEnd()
        token.meta = {
          tex: tex.trim() + after,
          display: true,
          source: token.content,
        } satisfies Formula
        state.line = line + 1
        return true
      }
      return false
    },
    { alt: ['paragraph', 'reference', 'blockquote', 'list'] },
  )
}
