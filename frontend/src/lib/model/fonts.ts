/** The fonts of the page, as CSS: which one comes first, and how large it is. */
import type { Font, Fonts } from '../types.gen'

export type FontOf = keyof Fonts

/** The family that the system uses, in place of a name. An empty family is the font that comes with Atelier. */
export const systemFont = 'system'

/** Sizes in CSS pixels, within which the layout holds. They are those of backend/preferences.go. */
export const fontSizes = {
  interface: { least: 11, most: 18, usual: 13 },
  code: { least: 10, most: 20, usual: 12 },
} as const

export const ownFonts = { interface: 'Inter', code: 'JetBrains Mono' } as const

const bundled = { interface: "'Inter Variable'", code: "'JetBrains Mono Variable'" } as const
const ofSystem = { interface: 'system-ui', code: 'ui-monospace, monospace' } as const

export const sizeOf = (of: FontOf, font: Font | undefined): number => {
  const { least, most, usual } = fontSizes[of]
  return Math.min(most, Math.max(least, Math.round(font?.size || usual)))
}

/** The families that are tried before those for other scripts. */
export function familiesOf(of: FontOf, font: Font | undefined): string {
  const family = font?.family
  if (!family) return bundled[of]
  return family === systemFont ? ofSystem[of] : `${quoted(family)}, ${bundled[of]}`
}

/** A name as a string of CSS, whatever it contains. */
export const quoted = (name: string): string =>
  `"${name.replace(/["\\\p{Cc}]/gu, (sign) => `\\${sign.codePointAt(0)!.toString(16)} `)}"`

/** The custom properties that a choice sets on the root; app.css has the usual ones. */
export const fontProperties = (fonts: Fonts | undefined): Record<string, string> => ({
  '--sans-first': familiesOf('interface', fonts?.interface),
  '--mono-first': familiesOf('code', fonts?.code),
  // The alternates that app.css chooses are Inter's.
  '--sans-features': fonts?.interface?.family ? 'normal' : "'cv11', 'ss03'",
  '--text-sm': `${sizeOf('interface', fonts?.interface)}px`,
  '--text-code': `${sizeOf('code', fonts?.code)}px`,
})

/** How wide a text is in these families, at some fixed size. */
export type Measure = (text: string, families: string) => number

const generics = ['monospace', 'serif', 'sans-serif']
const sample = 'mmWWiil10QgO@&—中文'

/**
 * Whether the page finds a font. A browser replaces a missing font without saying so, and then the text is
 * as wide as it is without the name, whichever font is the replacement.
 */
export function isFound(name: string, measure: Measure): boolean {
  return generics.some(
    (generic) => measure(sample, `${quoted(name)}, ${generic}`) !== measure(sample, generic),
  )
}
