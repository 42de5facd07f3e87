/** The elements and attributes of MathML that the sanitiser lets through: its core, without links, pictures, styles and colours. */
export const mathTags = [
  ...['math', 'semantics', 'annotation', 'mrow', 'mi', 'mn', 'mo', 'mtext', 'mspace', 'mstyle'],
  ...['mfrac', 'msqrt', 'mroot', 'msub', 'msup', 'msubsup', 'munder', 'mover', 'munderover'],
  ...['mtable', 'mtr', 'mtd', 'mpadded', 'mphantom'],
]
export const mathAttributes = [
  ...['display', 'displaystyle', 'scriptlevel', 'encoding', 'mathvariant', 'mathsize', 'linethickness'],
  ...['stretchy', 'fence', 'separator', 'symmetric', 'largeop', 'movablelimits', 'accent', 'accentunder'],
  ...['minsize', 'maxsize', 'lspace', 'rspace', 'width', 'height', 'depth', 'voffset'],
] // prettier-ignore
