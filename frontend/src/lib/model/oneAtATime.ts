/**
 * Returns a function that runs work, never twice at once: what is asked for
 * while it runs is one run more, after it. Work must not fail.
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
