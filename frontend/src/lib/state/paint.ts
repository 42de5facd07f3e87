/**
 * Resolves in the next frame, after its scroll events and before it is painted, or after a quarter of a second in a
 * hidden window, which has no frames.
 */
export const inFrame = (): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, 250)
    requestAnimationFrame(() => {
      clearTimeout(timer)
      resolve()
    })
  })

/** Resolves once that frame is painted: a timer fires after it. */
export const afterPaint = (): Promise<void> =>
  inFrame().then(() => new Promise((resolve) => setTimeout(resolve)))

/** How long after a key or a turn of the wheel frames are left to the user, in milliseconds. */
const afterInput = 50
/** The longest that arriving work waits for the user, in milliseconds. */
const mostWait = 120
/** What also begins a frame for the user. */
const inputs = ['keydown', 'wheel', 'pointerdown'] as const

/**
 * Returns a function that runs work before the next paint, once for all calls until then. While the user types or
 * scrolls, it runs less often, so that most frames only have to show what the user did. A hidden window does not
 * paint, so a timer runs it there.
 */
export function beforePaint(work: () => void): () => void {
  let frame = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let input = -Infinity
  let wanted = 0
  for (const type of inputs) {
    const note = () => (input = performance.now())
    window.addEventListener(type, note, { capture: true, passive: true })
  }
  const run = () => {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
    timer = undefined
    work()
  }
  const look = () => {
    const now = performance.now()
    if (now - input >= afterInput) run()
    else if (now - wanted < mostWait) frame = requestAnimationFrame(look)
    else {
      // This frame shows what the user did. The work comes right after it, and is shown by the next one.
      clearTimeout(timer)
      timer = setTimeout(run)
    }
  }
  return () => {
    if (timer !== undefined) return
    wanted = performance.now()
    frame = requestAnimationFrame(look)
    timer = setTimeout(run, 250)
  }
}
