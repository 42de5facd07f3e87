/** The whole texts of a conversation, of which long ones are cut for display. */
import { wordsOf } from '../model/answers'
import {
  type AnswerEntry,
  type CommandEntry,
  type Entry,
  type PromptEntry,
  type ToolEntry,
  wrote,
} from '../model/entries'
import { entriesOf } from '../model/rows'
import type { Conversation } from '../state/conversation.svelte'

/** The text of a message as it was typed, or the output of a call; undefined if it could not be read. */
export async function wholeText(
  entry: PromptEntry | AnswerEntry | ToolEntry | CommandEntry,
  conversation: Conversation,
): Promise<string | undefined> {
  if (!entry.size || !entry.seq) return writtenIn(entry)
  const event = await conversation.whole(entry.seq)
  switch (event?.kind) {
    case 'user_input':
      return wrote(event.data)
    case 'assistant_text_end':
      return wordsOf(event.data).text
    case 'tool_call_end':
    case 'local_command_end':
      return event.data.output
  }
  return undefined
}

function writtenIn(entry: PromptEntry | AnswerEntry | ToolEntry | CommandEntry): string {
  if (entry.type === 'prompt') return wrote(entry)
  return 'output' in entry ? entry.output : entry.text
}

/** How many pages of older events are read for the beginning of a turn. */
const mostPages = 50

/** The entries of a turn from its beginning, which is read if it was not yet; undefined if that failed. */
export async function wholeTurn(
  key: string,
  conversation: Conversation,
): Promise<readonly Entry[] | undefined> {
  const { log } = conversation
  for (let pages = 0; pages <= mostPages; pages++) {
    const { shown } = log
    const { entries } = shown.view
    const end = entries.find((entry) => entry.key === key)
    if (end?.type !== 'turn') return undefined
    const turn = entriesOf(end, entries)
    if (turn[0] !== entries[0] || !shown.more) return turn
    await log.older(shown)
    if (shown.view.entries === entries) return undefined
  }
  return undefined
}

/** The texts of the prompts and answers among entries; undefined if one could not be read. */
export async function wholeTexts(
  entries: readonly Entry[],
  conversation: Conversation,
): Promise<ReadonlyMap<Entry, string> | undefined> {
  const texts = new Map<Entry, string>()
  for (const entry of entries) {
    if (entry.type !== 'prompt' && entry.type !== 'answer') continue
    const text = await wholeText(entry, conversation)
    if (text === undefined) return undefined
    texts.set(entry, text)
  }
  return texts
}
