import { translator } from '../i18n/i18n.svelte'

export const messages = {
  unread: 'This formula cannot be read. {reason}',
  refused: 'This formula is not drawn, because it contains {command}.',
  too_large: 'This formula is too large to be drawn.',
  notes: 'Footnotes',
  note: 'Footnote {n}',
  back: 'Back to the text from footnote {n}',
  show_diagram: 'Show diagram',
  show_source: 'Show source',
  run: 'Put it into your terminal',
  diagram: 'Diagram: {title}',
  diagram_drawing: 'Drawing the diagram…',
  diagram_line: 'This diagram cannot be drawn, because line {line} cannot be read.',
  diagram_unread: 'This diagram cannot be drawn, because its source cannot be read.',
  diagram_unknown: 'This kind of diagram is not drawn.',
  diagram_large: 'This diagram is too large to be drawn.',
  diagram_slow: 'This diagram took too long to draw.',
} as const

export const own = translator('markdown/messages', messages)
