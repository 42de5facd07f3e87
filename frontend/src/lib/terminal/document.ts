/**
 * The document for xterm.js, whose style elements and attributes the page's policy refuses. What it
 * writes into them goes to style sheets and properties that a script may set.
 */

/** Follows the text of an element in a style sheet of the page. */
function asSheet(element: HTMLElement): HTMLElement {
  const sheet = new CSSStyleSheet()
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  new MutationObserver(() => sheet.replaceSync(element.textContent ?? '')).observe(element, {
    childList: true,
    characterData: true,
    subtree: true,
  })
  const remove = element.remove.bind(element)
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((it) => it !== sheet)
    remove()
  }
  element.hidden = true
  return element
}

/** Lets the attribute style be set as a property, which is the same to a reader. */
function withProperties(element: HTMLElement): HTMLElement {
  const set = element.setAttribute.bind(element)
  element.setAttribute = (name, value) => {
    if (name === 'style') element.style.cssText = value
    else set(name, value)
  }
  return element
}

const make = document.createElement.bind(document)

function create(name: string): HTMLElement {
  return name === 'style' ? asSheet(make('div')) : withProperties(make(name))
}

/** What xterm.js keeps for itself: what makes its rows asks the page's document, whatever its options say. */
type Inside = {
  _core?: { _renderService?: { _renderer?: { value?: { _rowFactory?: { _document: Document } } } } }
}

/** Lets the rows of a terminal have colours that are in no style sheet. */
export function colourRows(terminal: object): void {
  const rows = (terminal as Inside)._core?._renderService?._renderer?.value?._rowFactory
  if (rows) rows._document = pageDocument
}

/** Does work at once whose style elements are made with the document itself. */
export function withPageDocument(work: () => void): void {
  const own = Object.getOwnPropertyDescriptor(document, 'createElement')
  Object.defineProperty(document, 'createElement', { configurable: true, value: create })
  try {
    work()
  } finally {
    if (own) Object.defineProperty(document, 'createElement', own)
    else Reflect.deleteProperty(document, 'createElement')
  }
}

export const pageDocument = new Proxy(document, {
  get(target, name) {
    if (name === 'createElement') return create
    const value: unknown = Reflect.get(target, name)
    return typeof value === 'function' ? (value as () => unknown).bind(target) : value
  },
})
