/**
 * Returns a function that runs work, but never twice at the same time: calls
 * during a run cause exactly one more run after it. Work must not reject.
 */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let isAskedAgain = false
  const run = async () => {
    do {
      isAskedAgain = false
      await work()
    } while (isAskedAgain)
    running = undefined
  }
  return () => {
    if (running) isAskedAgain = true
    return (running ??= run())
  }
}
