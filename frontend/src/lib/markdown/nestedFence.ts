/**
 * Markdown in a fence, in which models write fences of the same length: “```markdown”, in it “```sh” and its end,
 * and then its own end. CommonMark ends the outer fence at the first of them, and makes code of the rest.
 */
import type { MarkdownIt } from 'markdown-it'

const documents = /^(?:markdown|md|mdx)\b/i

/** The fences that are open at a line. Only one of Markdown has others in it, which begin with their language. */
export class Fences {
  #open: string[] = []

  get depth(): number {
    return this.#open.length
  }

  /** Takes the next line. */
  take(line: string): void {
    const [, mark = '', info = ''] = /^ {0,3}(`{3,}|~{3,})[ \t]*(.*?)[ \t]*$/.exec(line) ?? []
    if (!mark || (mark.startsWith('`') && info.includes('`'))) return
    const inner = this.#open.at(-1)
    if (!inner) this.#open.push(documents.test(info) ? `${mark} ` : mark)
    else if (!info && mark.startsWith(inner.trim())) this.#open.pop()
    else if (info && inner.endsWith(' ') && mark.startsWith(inner.trim())) this.#open.push(mark)
  }
}

/** Reads a fence of Markdown to the end that its inner fences leave for it. Without one, the first end counts, unless the text still grows. */
export function nestedFence(markdown: MarkdownIt): void {
  markdown.block.ruler.before(
    'fence',
    'nested_fence',
    (state, from, to, silent) => {
      const indent = state.sCount[from]! - state.blkIndent
      const lineAt = (at: number) =>
        state.getLines(at, at + 1, state.sCount[at]! - Math.max(0, indentAt(at)), false)
      const indentAt = (at: number) => state.sCount[at]! - state.blkIndent
      const [, mark, info = ''] = /^(`{3,}|~{3,})[ \t]*(.*)$/.exec(lineAt(from).trimStart()) ?? []
      if (indent > 3 || !mark || !documents.test(info) || info.includes('`')) return false
      const fences = new Fences()
      fences.take(mark + info)
      let at = from + 1
      let deepest = 1
      for (; at < to && fences.depth > 0; at++) {
        const isOutside = indentAt(at) < 0 && lineAt(at).trim() !== ''
        if (isOutside) break
        if (indentAt(at) <= 3) fences.take(lineAt(at))
        deepest = Math.max(deepest, fences.depth)
      }
      const isClosed = fences.depth === 0
      const grows = (state.env as { open?: boolean }).open === true && at === to
      if (deepest === 1 || (!isClosed && !grows)) return false
      if (silent) return true
      const token = state.push('fence', 'code', 0)
      token.info = info
      token.content = state.getLines(
        from + 1,
        isClosed ? at - 1 : at,
        indent + state.blkIndent,
        true,
      )
      token.markup = mark
      token.map = [from, at]
      state.line = at
      return true
    },
    { alt: ['paragraph', 'reference', 'blockquote', 'list'] },
  )
}
