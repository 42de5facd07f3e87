import { tick } from 'svelte'

/** Keeps the end of a box in view while its content grows, if the end was in view before. */
export function followEnd(box: () => HTMLElement | undefined, content: () => unknown): void {
  $effect.pre(() => {
    void content()
    const shown = box()
    if (!shown) return
    const { scrollHeight, scrollTop, clientHeight } = shown
    if (scrollHeight - scrollTop - clientHeight > 8) return
    void tick().then(() => shown.scrollTo(0, shown.scrollHeight))
  })
}
