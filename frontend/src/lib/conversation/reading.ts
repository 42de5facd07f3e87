import type { Log } from '../state/log.svelte'
import type { Passage } from '../state/passage.svelte'

/** Reads older events of a passage until a row is added, because what was taken back adds none. */
export const readOlder = (log: Log, passage: Passage, rows: () => number): Promise<void> =>
  readUntilSeen(log, passage, rows, () => log.older(passage))

/** Reads newer events in the same way. A list whose end stays where it is in view tells of it only once. */
export const readNewer = (log: Log, passage: Passage, rows: () => number): Promise<void> =>
  readUntilSeen(log, passage, rows, () => log.newer())

async function readUntilSeen(
  log: Log,
  passage: Passage,
  rows: () => number,
  read: () => Promise<void>,
): Promise<void> {
  const known = rows()
  const extent = () => passage.view.seq - passage.from
  let before: number
  do {
    before = extent()
    await read()
  } while (rows() === known && extent() > before && passage === log.shown)
}
