import { SvelteSet } from 'svelte/reactivity'

const shown = new SvelteSet<string>()
const mostShown = 200

/** Whether a diagram is shown instead of its source, wherever it occurs. */
export const isShown = (source: string): boolean => shown.has(source)

/** Shows a diagram instead of its source, or the source again. */
export function toggleDiagram(source: string): void {
  if (shown.delete(source)) return
  shown.add(source)
  if (shown.size > mostShown) shown.delete(shown.keys().next().value!)
}
