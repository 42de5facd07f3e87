import { remember } from './remember'

const dark = matchMedia('(prefers-color-scheme: dark)')
const key = 'atelier.theme'

let wanted = localStorage.getItem(key) ?? ''

function paint(): void {
  const theme = wanted || (dark.matches ? 'dark' : 'light')
  document.documentElement.dataset.theme = theme
}

/** Applies "light", "dark" or, if empty, the system's theme. It is stored so that the next start paints it at once. */
export function setTheme(theme: string | undefined): void {
  wanted = theme ?? ''
  remember(key, wanted)
  paint()
}

dark.addEventListener('change', paint)
paint()
