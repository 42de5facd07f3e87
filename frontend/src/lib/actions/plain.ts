/** A Markdown text as it is read: without its marks. */
import MarkdownIt from 'markdown-it'
import { withoutBidi } from '../model/visible'

const markdown = new MarkdownIt()
type Token = ReturnType<typeof markdown.parse>[number]

/** The text of a paragraph, a heading or a cell. */
function spoken({ children }: Token): string {
  const words = (children ?? []).map(({ type, content, attrGet }, at, all) => {
    if (type === 'softbreak') return ' '
    if (type === 'hardbreak') return '\n'
    if (type === 'image') return content || String(attrGet.call(all[at], 'src') ?? '')
    return content
  })
  return words.join('')
}

const boxed = (text: string) =>
  text.replace(/^\[([ xX])\] /, (_, mark: string) => (mark === ' ' ? '☐ ' : '☑ '))

/** Collects blocks. An item's first line has its mark, the lines after it are indented to it. */
class Page {
  text = ''
  /** The open lists with their next number; 0 has bullets. */
  readonly lists: number[] = []
  readonly #indents: string[] = []
  #mark = ''
  #wasInList = false

  begin(): void {
    const number = this.lists.at(-1) ?? 0
    if (number > 0) this.lists[this.lists.length - 1] = number + 1
    // An item that begins with a list has several marks in one line.
    this.#mark += number > 0 ? `${number}. ` : '• '
    this.#indents.push(' '.repeat(number > 0 ? `${number}. `.length : 2))
  }

  end(): void {
    this.#indents.pop()
    this.#mark = ''
  }

  add(block: string, isTight: boolean): void {
    const isInList = this.#indents.length > 0
    const gap = isTight && isInList && this.#wasInList ? '\n' : '\n\n'
    const indent = this.#indents.join('')
    const [first = '', ...rest] = block.split('\n')
    const begin = indent.slice(0, indent.length - this.#mark.length) + this.#mark
    const lines = [begin + first, ...rest.map((line) => line && indent + line)]
    this.text += (this.text && gap) + lines.join('\n')
    this.#mark = ''
    this.#wasInList = isInList
  }
}

/** The text of a model's Markdown, with the marks of the page for characters that reorder text. */
export function plainText(source: string): string {
  const page = new Page()
  let rows: string[] = []
  let cells: string[] | undefined
  let isTight = false
  for (const token of markdown.parse(withoutBidi(source), {})) {
    const { type, content } = token
    if (type === 'bullet_list_open') page.lists.push(0)
    else if (type === 'ordered_list_open') page.lists.push(Number(token.attrGet('start') ?? 1))
    else if (type === 'bullet_list_close' || type === 'ordered_list_close') page.lists.pop()
    else if (type === 'list_item_open') page.begin()
    else if (type === 'list_item_close') page.end()
    else if (type === 'paragraph_open') isTight = token.hidden
    else if (type === 'heading_open') isTight = false
    else if (type === 'tr_open') cells = []
    else if (type === 'tr_close') {
      rows.push((cells ?? []).join('\t'))
      cells = undefined
    } else if (type === 'table_close') {
      page.add(rows.join('\n'), false)
      rows = []
    } else if (type === 'inline') {
      if (cells) cells.push(spoken(token))
      else page.add(page.lists.length > 0 ? boxed(spoken(token)) : spoken(token), isTight)
    } else if (type === 'fence' || type === 'code_block') {
      page.add(content.replace(/\n$/, ''), false)
    } else if (type === 'hr') page.add('———', false)
  }
  return page.text
}
