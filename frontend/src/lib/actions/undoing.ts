/** The actions that take back what was done. */
import { startsAgent } from '../model/agents'
import History from '@lucide/svelte/icons/history'
import Undo2 from '@lucide/svelte/icons/undo-2'
import type { Entry } from '../model/entries'
import { entriesOf } from '../model/rows'
import type { Action, Target } from './action'
import { own } from './messages'
import { isRest, standingTurn } from './standing'

/** The number of the turn that a row stands for. */
function turnOf({ row }: Target): number | undefined {
  if (row.type === 'prompt' && !row.steered) return row.turn
  if (row.type === 'fold') return row.turn.turn
  return row.type === 'turn' ? row.turn : undefined
}

/** Whether the log records file changes of the row's step or turn, or its agents may have changed files. */
function changedFiles({ row, conversation }: Target): boolean {
  if (row.type === 'tool' || row.type === 'command') return row.files !== undefined
  if (row.type === 'fold') return row.entries.some(mayChange)
  return row.type === 'turn' && entriesOf(row, conversation.log.shown.view.entries).some(mayChange)
}

const mayChange = (entry: Entry): boolean =>
  entry.type === 'tool' && (entry.files !== undefined || startsAgent(entry.tool))

/** Takes the changes of a turn, or of one call or command, out of the files. */
export const undo: Action = {
  name: 'undo',
  key: 'u',
  icon: Undo2,
  label: ({ row }) => own(row.type === 'fold' || row.type === 'turn' ? 'undo_turn' : 'undo_step'),
  offers: (target) => !target.isNested && isRest(target) && changedFiles(target),
  async run(target, host) {
    const { row, conversation } = target
    const session = conversation.id
    if (row.type === 'tool') host.undo({ target: { step: { session, call: row.callId } } })
    else if (row.type === 'command') host.undo({ target: { step: { session, call: row.id } } })
    else host.undo({ target: { turn: turnOf(target) } })
    return undefined
  },
}

/** The turn that a prompt began, if the conversation can be taken back to before it. */
const rewindableTurn = (target: Target): number | undefined =>
  isRest(target) ? standingTurn(target) : undefined

/** Takes the conversation back to before a prompt, which returns into the message field. */
export const rewind: Action = {
  name: 'rewind',
  key: 'b',
  icon: History,
  label: () => own('rewind'),
  offers: (target) => rewindableTurn(target) !== undefined,
  async run(target, host) {
    const turn = rewindableTurn(target)
    const { row } = target
    const message = row.type === 'prompt' ? (row.typed ?? row.text) : undefined
    if (turn !== undefined) host.undo({ target: { since: turn }, rewind: turn, message })
    return undefined
  },
}
