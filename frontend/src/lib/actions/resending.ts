/** The actions that send a message again. */
import Pencil from '@lucide/svelte/icons/pencil'
import RotateCcw from '@lucide/svelte/icons/rotate-ccw'
import { tick } from 'svelte'
import { commandIn } from '../model/activity'
import type { AnswerEntry, PromptEntry } from '../model/entries'
import { callAgain } from '../model/slash'
import { canContinue, turnAtRest } from '../model/turn'
import { beginEdit, endEdit, putBack, readDraft } from '../state/drafts.svelte'
import type { Action, Target } from './action'
import { own } from './messages'
import { isRest, standingTurn } from './standing'
import { wholeText } from './whole'

/**
 * Puts a prompt into the message field, to be sent in place of its turn and all after it. A prompt that
 * began no turn, or was taken back, joins the existing draft, as a message like any other.
 */
export const edit: Action = {
  name: 'edit',
  key: 'e',
  icon: Pencil,
  label: (target) => own(standingTurn(target) === undefined ? 'edit_anew' : 'edit'),
  offers: ({ row, isNested }) => row.type === 'prompt' && !isNested,
  async run(target, host) {
    const { row, conversation } = target
    const turn = standingTurn(target)
    if (turn !== undefined && !isRest(target)) return { words: own('edit_working'), isBad: true }
    const text = row.type === 'prompt' ? await wholeText(row, conversation) : undefined
    if (text === undefined) return undefined // why it could not be read is shown above the field
    if (turn !== undefined) {
      beginEdit(conversation.id, turn, text)
      await tick()
      host.compose()
      return { words: own('editing_earlier') }
    }
    endEdit(conversation.id)
    const draft = readDraft(conversation.id)
    putBack(conversation.id, text)
    await tick()
    host.compose()
    if (draft.trim() === '') return { words: own('editing') }
    return { words: own(commandIn(draft) === undefined ? 'editing_below' : 'editing_above') }
  },
}

/** The prompt of the turn that an answer ended; undefined if it ended none, or if the turn can be continued instead. */
function promptOf(answer: AnswerEntry, { conversation }: Target): PromptEntry | undefined {
  const { left: view } = conversation
  const { entries } = conversation.log.shown.view
  const at = entries.lastIndexOf(answer)
  if (at < 0) return undefined
  const after = entries.slice(at + 1).find(({ type }) => type === 'answer' || type === 'turn')
  if (after?.type !== 'turn') return undefined
  if (canContinue(view) && turnAtRest(view) === after) return undefined
  for (let i = at - 1; i >= 0; i--) {
    const entry = entries[i]!
    if (entry.type === 'turn') return undefined
    if (entry.type === 'prompt' && !entry.steered) return entry
  }
  return undefined
}

function promptBehind(target: Target): PromptEntry | undefined {
  const { row } = target
  if (row.type === 'prompt') return row
  return row.type === 'answer' && !row.streaming ? promptOf(row, target) : undefined
}

/** Sends a prompt again as it was, in a new turn. */
export const retry: Action = {
  name: 'retry',
  key: 'r',
  icon: RotateCcw,
  label: () => own('retry'),
  offers: (target) =>
    !target.isNested &&
    target.conversation.view.state === 'idle' &&
    promptBehind(target) !== undefined,
  async run(target, host) {
    const prompt = promptBehind(target)
    const text = prompt && (await wholeText(prompt, target.conversation))
    if (!text || !(await host.send(text, callAgain(text, prompt.skill)))) return undefined // why is shown above the message field
    host.compose()
    return { words: own('sent') }
  },
}
