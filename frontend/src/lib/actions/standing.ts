/** What can be taken back of a conversation. */
import { tookBack } from '../model/rewound'
import type { Target } from './action'

export const isRest = ({ conversation }: Target): boolean => conversation.view.state === 'idle'

/** The turn that a prompt began, unless it was taken back. */
export function standingTurn({ row, conversation, isNested }: Target): number | undefined {
  if (isNested || row.type !== 'prompt' || row.steered) return undefined
  const { rewound } = conversation.info ?? {}
  const isTaken = tookBack(conversation.log.shown.view.entries, row.key, rewound).length > 0
  return isTaken ? undefined : row.turn
}
