/** What the page can tell about a font that a user names. */
import type { Measure } from '../model/fonts'

/** Whether the application takes a name: backend/preferences.go has the same rule. */
export const isFontName = (name: string): boolean =>
  /^[\p{L}\p{M}\p{N}\-_.+&]+( [\p{L}\p{M}\p{N}\-_.+&]+)*$/u.test(name) && [...name].length <= 100

let context: CanvasRenderingContext2D | null | undefined

export const measure: Measure = (text, families) => {
  context ??= document.createElement('canvas').getContext('2d')
  if (!context) return 0
  context.font = `64px ${families}`
  return context.measureText(text).width
}
