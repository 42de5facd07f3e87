import { SvelteMap } from 'svelte/reactivity'
import { commandIn } from '../model/activity'
import { splitAttached } from '../model/attached'
import { dropFiles, readFiles, writeFiles } from './attachments.svelte'
import { dropUnsent, readUnsent, writeUnsent } from './unsent.svelte'

/**
 * Unsent text, by its owner: a session, the start of a session, or a queued message
 * that is being edited. It survives a reload, opening another session, and another server.
 */
const key = (owner: string) => `draft:${owner}`

/** The owner of the edited text of a message that is queued in a session. */
export const queuedDraft = (session: string, id: string): string => `${session}/${id}`

export const readDraft = (owner: string): string => readUnsent(key(owner))

export const writeDraft = (owner: string, text: string): void => writeUnsent(key(owner), text)

/** A message as it is typed, so that it does not become a command. */
export const asMessage = (text: string) => (commandIn(text) === undefined ? text : ` ${text}`)

/**
 * Puts a message back into its owner's draft: after the text that is there, but
 * before a command. The message never becomes a command or a part of a command.
 */
export function putBack(owner: string, text: string): void {
  const written = readDraft(owner).trimEnd()
  if (written && commandIn(written) === undefined) {
    writeDraft(owner, `${written}\n\n${text}`)
    return
  }
  const message = asMessage(text)
  writeDraft(owner, written ? `${message}\n\n${written}` : message)
}

/** Forgets the drafts of a session that no longer exists: its own, and those of its queued messages. */
export function dropDrafts(session: string): void {
  dropUnsent(editKey(session))
  dropFiles(session)
  dropUnsent(key(session))
}

/** Where the turn is kept whose prompt is being edited in a session, like the edited text. */
const editKey = (session: string) => `edit:${session}`
const editDraft = (session: string) => queuedDraft(session, 'edit')

/** The turn whose prompt is being edited in a session; undefined if none is. */
export function editedTurn(session: string): number | undefined {
  return Number(readUnsent(editKey(session))) || undefined
}

/** Whose draft the message field of a session has: that of an edited prompt leaves the unsent message alone. */
export const draftOwner = (session: string): string =>
  editedTurn(session) === undefined ? session : editDraft(session)

/** Begins to edit the prompt of a turn. A prompt that was being edited is dropped. */
export function beginEdit(session: string, turn: number, text: string): void {
  writeUnsent(editKey(session), String(turn))
  const message = splitAttached(text)
  writeDraft(editDraft(session), asMessage(message.text))
  writeFiles(editDraft(session), message.files)
}

/** Ends editing a prompt, whose text is dropped. */
export function endEdit(session: string): void {
  if (editedTurn(session) === undefined) return
  writeUnsent(editKey(session), '')
  writeDraft(editDraft(session), '')
  writeFiles(editDraft(session), [])
}

/** The session that took over the draft of a start, by the start, so that sent text is removed from that session's draft. */
const heirs = new SvelteMap<string, string>()

/** Gives the draft of the start of a session to the session that began. It has no draft yet. */
export function handOver(start: string, session: string): void {
  const written = readDraft(start)
  heirs.set(start, session)
  writeDraft(session, written)
  writeDraft(start, '')
  writeFiles(session, readFiles(start))
  writeFiles(start, [])
}

/** The current owner of a draft. */
export const heirOf = (owner: string): string => heirs.get(owner) ?? owner

/** Forgets who took over the draft of a start, once nothing that was sent from it is on its way. */
export const forgetHeir = (start: string): void => void heirs.delete(start)

/**
 * Removes the text that was sent from the draft, wherever the draft is by now, and returns who has
 * it; text that was typed meanwhile stays.
 */
export function takeSent(from: string, sent: string): string {
  const owner = heirOf(from)
  heirs.delete(from)
  const written = readDraft(owner)
  if (written.startsWith(sent)) writeDraft(owner, written.slice(sent.length))
  return owner
}
