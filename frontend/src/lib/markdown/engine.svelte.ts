/** What is loaded with the first text that needs it: KaTeX for formulas, highlight.js for code. */
import { Lazy } from '../ui/lazy.svelte'

export type Engine = typeof import('./draw').drawFormula

const formulas = new Lazy(() => import('./draw').then(({ drawFormula }) => drawFormula))
/** Also loaded when the page is idle, so that what a session shows first is not drawn twice. */
export const grammars = new Lazy(() => import('./grammars').then(({ colourCode }) => colourCode))

/** What draws formulas, once it is loaded. */
export const formulaEngine = (): Engine | undefined => formulas.part
export const loadFormulas = () => formulas.need()

/** What colours code, once it is loaded. */
export const codeEngine = () => grammars.part
export const loadGrammars = () => grammars.need()

/** What is loaded. A text that was rendered without some of it is rendered again. */
export const loadedParts = () => `${formulas.part !== undefined} ${grammars.part !== undefined}`
