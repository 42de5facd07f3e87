import { SvelteMap } from 'svelte/reactivity'
import { commandIn } from '../model/activity'
import { remember } from './remember'

/**
 * Unsent text, by its owner: a session, the start of a session, or a queued message
 * that is being edited. It survives a reload, and opening another session.
 */
const drafts = new SvelteMap<string, string>()
const key = (owner: string) => `atelier.draft:${owner}`

export const readDraft = (owner: string): string =>
  drafts.get(owner) ?? localStorage.getItem(key(owner)) ?? ''

export function writeDraft(owner: string, text: string): void {
  drafts.set(owner, text)
  remember(key(owner), text)
}

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
  const message = commandIn(text) === undefined ? text : ` ${text}`
  writeDraft(owner, written ? `${message}\n\n${written}` : message)
}

/** Removes the text that was sent from the draft; text that was typed meanwhile stays. */
export function takeSent(owner: string, sent: string): void {
  const written = readDraft(owner)
  if (written.startsWith(sent)) writeDraft(owner, written.slice(sent.length))
}
