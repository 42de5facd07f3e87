/** Applies the fonts of the page. They are stored, like the theme, so that the next start paints them at once. */
import { fontProperties, sizeOf } from '../model/fonts'
import type { Fonts } from '../types.gen'
import { recall, remember } from './remember'

const key = 'atelier.fonts'

let size = $state(0)

/** The size of code in CSS pixels. */
export const codeSize = (): number => size

export function setFonts(fonts: Fonts | undefined): void {
  remember(key, fonts ? JSON.stringify(fonts) : '')
  paint(fonts)
}

function paint(fonts: Fonts | undefined): void {
  size = sizeOf('code', fonts?.code)
  const { style } = document.documentElement
  for (const [name, value] of Object.entries(fontProperties(fonts))) style.setProperty(name, value)
}

function remembered(): Fonts | undefined {
  try {
    return JSON.parse(recall(key) || '{}') as Fonts
  } catch {
    return undefined
  }
}

paint(remembered())
