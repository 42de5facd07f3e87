/** KaTeX, which is loaded with the first formula. */

export type Engine = typeof import('./draw').drawFormula

let engine = $state.raw<Engine>()
let loading: Promise<void> | undefined

/** What draws formulas, once it is loaded. */
export const formulaEngine = (): Engine | undefined => engine

/** Whether formulas are drawn. What was rendered before is to be rendered again. */
export const drawsFormulas = (): boolean => engine !== undefined

/** Loads KaTeX. If that fails, the next formula tries again. */
export function loadFormulas(): Promise<void> {
  loading ??= import('./draw').then(
    ({ drawFormula }) => void (engine = drawFormula),
    () => void (loading = undefined),
  )
  return loading
}
