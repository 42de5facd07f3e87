import { SvelteMap } from 'svelte/reactivity'
import { commandIn } from '../model/activity'
import { remember } from './remember'

/**
 * Unsent text, by its owner: a session, the start of one, or a queued message
 * that is being changed. It outlives a reload and a change of session.
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
 * Gives a message back to its owner's field: behind what is written there, but
 * before a command. It never becomes a command or a part of one.
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

/** Takes out what was sent; what was typed meanwhile stays. */
export function takeSent(owner: string, sent: string): void {
  const written = readDraft(owner)
  if (written.startsWith(sent)) writeDraft(owner, written.slice(sent.length))
}
