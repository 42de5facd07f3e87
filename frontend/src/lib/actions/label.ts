/** What a row is called when it has the focus. */
import { argument } from '../model/arguments'
import type { Row } from '../model/rows'
import { withoutHidden } from '../model/visible'
import { own } from './messages'

const short = (text: string) => withoutHidden(text.slice(0, 200).replace(/\s+/g, ' ').trim())

export function rowLabel(row: Row): string {
  switch (row.type) {
    case 'prompt':
    case 'answer':
      return own(`row_${row.type}`, { text: short(row.text) })
    case 'tool':
      return own('row_call', { text: short(`${row.tool} ${argument(row.tool, row.input)}`) })
    case 'command':
      return own('row_command', { text: short(row.command) })
    case 'group':
      return own('row_group', { n: row.calls.length })
    default:
      return own(`row_${row.type}`)
  }
}
