import { listed, sentences } from '../i18n/i18n.svelte'
import { bytes } from '../model/format'
import { markHidden } from '../model/visible'
import type { WorktreeInfo } from '../types.gen'
import { own } from './messages'

/** What would be lost with a worktree, in words. */
export function heldBy({ why, files = 0, bytes: size = 0, examples = [] }: WorktreeInfo): string {
  if (!why) return own('held_nothing')
  const names = listed(examples.map(markHidden))
  return sentences(
    own(`held_${why}`),
    files > 0 ? own('held_files', { n: files, size: bytes(size), names }) : undefined,
    files === 0 && names ? names : undefined,
  )
}
