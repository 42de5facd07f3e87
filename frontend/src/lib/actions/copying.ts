/** The actions that copy. */
import ClipboardCopy from '@lucide/svelte/icons/clipboard-copy'
import Copy from '@lucide/svelte/icons/copy'
import FileCode from '@lucide/svelte/icons/file-code'
import { problemWords } from '../i18n/problems'
import { argumentsOf } from '../model/json'
import type { Entry } from '../model/entries'
import type { Row } from '../model/rows'
import { plainTerminal } from '../model/terminal'
import { markHidden } from '../model/visible'
import { copyText } from '../state/clipboard'
import type { Conversation } from '../state/conversation.svelte'
import type { Action, Done, Target } from './action'
import { own } from './messages'
import { plainText } from './plain'
import { turnMarkdown } from './turnText'
import { wholeText, wholeTexts, wholeTurn } from './whole'

/** Copies a text; undefined means that it could not be read. */
async function give(text: string | undefined, words: string): Promise<Done> {
  if (text === undefined) return { words: own('unread'), isBad: true }
  return (await copyText(text)) ? { words } : { words: own('refused'), isBad: true }
}

/** The command that a call runs, if that is what it does. */
function commandOf(row: Row): string | undefined {
  if (row.type === 'command') return row.command
  const { command } = row.type === 'tool' ? argumentsOf(row.input) : {}
  return typeof command === 'string' ? command : undefined
}

/** What a row's command or call was given. A command has the marks of the page for characters that hide. */
const inputOf = (row: Row): string | undefined => {
  const command = commandOf(row)
  if (command !== undefined) return markHidden(command)
  return row.type === 'tool' && row.status !== 'drafting' ? row.input : undefined
}

const copiedWords = (row: Row) => {
  if (row.type !== 'tool' && row.type !== 'command') return 'copied'
  return commandOf(row) === undefined ? 'copied_input' : 'copied_command'
}

const copyLabels = {
  copied: 'copy',
  copied_input: 'copy_input',
  copied_command: 'copy_command',
} as const

async function textOf({ row, conversation }: Target): Promise<string | undefined> {
  if (row.type === 'prompt') return wholeText(row, conversation)
  if (row.type === 'answer') {
    const text = await wholeText(row, conversation)
    return text && plainText(text)
  }
  if (row.type === 'notice' && row.notice === 'error') {
    const { message, kept, next, details } = problemWords(row.failure)
    return [message, kept, next, details].filter(Boolean).join('\n')
  }
  return inputOf(row)
}

/** A message as it is read, or what a call or a command was given. */
export const copy: Action = {
  name: 'copy',
  key: 'c',
  icon: Copy,
  label: ({ row }) => own(copyLabels[copiedWords(row)]),
  offers({ row }) {
    if (row.type === 'prompt') return true
    if (row.type === 'answer') return !row.streaming && row.text !== ''
    return row.type === 'notice' ? row.notice === 'error' : Boolean(inputOf(row))
  },
  run: async (target) => give(await textOf(target), own(copiedWords(target.row))),
}

async function markdownOf({ row, conversation }: Target): Promise<string | undefined> {
  if (row.type === 'answer') return wholeText(row, conversation)
  if (row.type === 'group') return turnMarkdown(row.calls)
  return row.type === 'fold' || row.type === 'turn' ? markdownOfTurn(row, conversation) : undefined
}

async function markdownOfTurn(
  row: Extract<Row, { type: 'fold' | 'turn' }>,
  conversation: Conversation,
): Promise<string | undefined> {
  const { key } = row.type === 'fold' ? row.turn : row
  const entries: readonly Entry[] | undefined = await wholeTurn(key, conversation)
  const texts = entries && (await wholeTexts(entries, conversation))
  return texts && turnMarkdown(entries, texts)
}

const isTurn = ({ type }: Row) => type === 'fold' || type === 'turn'

/** An answer as the model wrote it, a whole turn, or a group of calls. */
export const copyMarkdown: Action = {
  name: 'copyMarkdown',
  key: 'm',
  icon: FileCode,
  label: ({ row }) => own(isTurn(row) ? 'copy_turn' : 'copy_markdown'),
  offers: ({ row }) =>
    isTurn(row) ||
    row.type === 'group' ||
    (row.type === 'answer' && !row.streaming && row.text !== ''),
  run: async (target) =>
    give(await markdownOf(target), own(isTurn(target.row) ? 'copied_turn' : 'copied_markdown')),
}

const ended = ['done', 'failed', 'denied', 'interrupted']

/** What a call or a command printed, without the codes that colour a terminal. */
export const copyOutput: Action = {
  name: 'copyOutput',
  key: 'o',
  icon: ClipboardCopy,
  label: () => own('copy_output'),
  offers: ({ row }) =>
    (row.type === 'tool' || row.type === 'command') &&
    row.output !== '' &&
    ended.includes(row.status),
  async run({ row, conversation }) {
    if (row.type !== 'tool' && row.type !== 'command') return undefined
    const text = await wholeText(row, conversation)
    const isTerminal = row.type === 'command' || row.tool === 'Bash'
    return give(text && isTerminal ? plainTerminal(text) : text, own('copied_output'))
  },
}
