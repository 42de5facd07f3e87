/** Makes characters visible that hide or reorder text, wherever the user decides on it. */

// C0 and C1 controls except tab and line feed, line separators, the blank of
// Braille, and what Unicode says has no glyph: zero-width and bidirectional
// controls, fillers, tags and variation selectors, except those of emoji.

const hidden =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u2800]|(?![\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}/gu

const reordering = /[\u202a-\u202e\u2066-\u2069]/g

export type Piece = { text: string; hidden: boolean }

/**
 * Splits text into plain pieces and marks such as ⟨U+202E⟩. In prose, only what reorders text is marked: the rest is
 * harmless there, and part of emoji and of some scripts.
 */
export function visiblePieces(text: string, isProse = false): Piece[] {
  const pieces: Piece[] = []
  let from = 0
  for (const match of text.matchAll(isProse ? reordering : hidden)) {
    if (match.index > from) pieces.push({ text: text.slice(from, match.index), hidden: false })
    pieces.push({ text: mark(match[0]), hidden: true })
    from = match.index + match[0].length
  }
  if (from < text.length) pieces.push({ text: text.slice(from), hidden: false })
  return pieces
}

const mark = (character: string) =>
  `⟨U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`

/** Like [visiblePieces], but as one string, for truncated lines and tooltips. */
export const markHidden = (text: string) => text.replace(hidden, mark)

/** The text without its hidden characters. */
export const withoutHidden = (text: string) => text.replace(hidden, '')

/** Makes only the controls that reorder text visible, for prose. */
export const withoutBidi = (text: string) => text.replace(reordering, mark)
