import type { Log } from '../state/log.svelte'
import type { Passage } from '../state/passage.svelte'

/** Reads older events of a passage until a row is added, because what was taken back adds none. */
export async function readOlder(log: Log, passage: Passage, rows: () => number): Promise<void> {
  const known = rows()
  let from: number
  do {
    from = passage.from
    await log.older(passage)
  } while (rows() === known && passage.from < from && passage === log.shown)
}
