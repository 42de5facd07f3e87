/** The languages that are loaded when code first is in one of them. */

const names = new Set([
  ...['csharp', 'cs', 'c#', 'cpp', 'cc', 'c++', 'h++', 'hpp', 'hh', 'hxx', 'cxx', 'kotlin', 'kt', 'kts'],
  ...['php', 'ruby', 'rb', 'gemspec', 'podspec', 'sql', 'swift'],
]) // prettier-ignore

let loaded = $state(false)
let loading: Promise<void> | undefined

export const isRare = (language: string): boolean => names.has(language.toLowerCase())

/** Whether they are loaded. What was rendered before is to be rendered again. */
export const rareLoaded = (): boolean => loaded

/** Loads them. If that fails, the next code in one of them tries again. */
export function loadRare(): Promise<void> {
  loading ??= import('./rare').then(
    ({ register }) => {
      register()
      loaded = true
    },
    () => void (loading = undefined),
  )
  return loading
}
