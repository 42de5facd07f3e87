import { recall, remember } from './remember'

const dark = matchMedia('(prefers-color-scheme: dark)')
const key = 'atelier.theme'
const contrastKey = 'atelier.contrast'

let wanted = recall(key)
let contrast = recall(contrastKey)

function paint(): void {
  const theme = wanted || (dark.matches ? 'dark' : 'light')
  document.documentElement.dataset.theme = theme
  document.documentElement.dataset.contrast = contrast
}

/** Applies "light", "dark" or, if empty, the system's theme. It is stored so that the next start paints it at once. */
export function setTheme(theme: string | undefined): void {
  wanted = theme ?? ''
  remember(key, wanted)
  paint()
}

/** Applies or ends high contrast, which is stored like the theme. */
export function setContrast(high: boolean | undefined): void {
  contrast = high ? 'high' : ''
  remember(contrastKey, contrast)
  paint()
}

dark.addEventListener('change', paint)
paint()
