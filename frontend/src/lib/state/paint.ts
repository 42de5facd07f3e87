/**
 * Returns a function that runs work before the next paint, once for all calls
 * until then. A hidden window does not paint, so a timer runs it there.
 */
export function beforePaint(work: () => void): () => void {
  let frame = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const run = () => {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
    timer = undefined
    work()
  }
  return () => {
    if (timer !== undefined) return
    frame = requestAnimationFrame(run)
    timer = setTimeout(run, 250)
  }
}
