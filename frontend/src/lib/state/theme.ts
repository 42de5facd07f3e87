const dark = matchMedia('(prefers-color-scheme: dark)')
const remembered = 'atelier.theme'

let wanted = localStorage.getItem(remembered) ?? ''

function paint(): void {
  const theme = wanted || (dark.matches ? 'dark' : 'light')
  document.documentElement.dataset.theme = theme
}

/** Applies "light", "dark" or, empty, the system's; remembered so that the next first frame has it. */
export function setTheme(theme: string | undefined): void {
  wanted = theme ?? ''
  localStorage.setItem(remembered, wanted)
  paint()
}

dark.addEventListener('change', paint)
paint()
