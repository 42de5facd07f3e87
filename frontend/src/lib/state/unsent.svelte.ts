/**
 * What the user has typed and not sent: drafts, comments on lines, edits of earlier prompts. Each text is in local
 * storage at once, so that a reload keeps it, and with the application soon after, so that it outlives the address
 * of a server. What another page has written meanwhile is not overwritten: both texts stay.
 */
import { SvelteMap, SvelteSet } from 'svelte/reactivity'
import type { Call } from '../api'
import type { UnsentText } from '../types.gen'
import { forget, recall, remember, storedKeys } from './remember'

/** The texts that this page has read or written, by their keys, such as draft:SESSION. */
const texts = new SvelteMap<string, string>()
/** The revisions of the texts as the application has them, as far as this page knows them. */
const revisions = new SvelteMap<string, number>()
/** What the application does not have yet. */
const unsaved = new SvelteSet<string>()

const place = (key: string) => `atelier.${key}`
/** Where the revision is stored that an unsaved text is based on. */
const basePlace = (key: string) => `atelier.unsaved:${key}`

/** How long a text may change before it is saved. */
const pause = 400

let onchange = () => {}

export const readUnsent = (key: string): string => texts.get(key) ?? recall(place(key))

export function writeUnsent(key: string, text: string): void {
  if (text === readUnsent(key)) return
  show(key, text)
  unsaved.add(key)
  remember(basePlace(key), String(revisions.get(key) ?? 0))
  onchange()
}

/** Removes the texts whose keys begin so, of something that no longer exists. */
export function dropUnsent(beginning: string): void {
  for (const key of [...texts.keys()].filter((one) => one.startsWith(beginning))) texts.delete(key)
  for (const key of [...unsaved].filter((one) => one.startsWith(beginning))) unsaved.delete(key)
  forget(place(beginning))
  forget(basePlace(beginning))
}

function show(key: string, text: string): void {
  texts.set(key, text)
  remember(place(key), text)
}

function settle(key: string): void {
  unsaved.delete(key)
  remember(basePlace(key), '')
}

/** Two versions of a text in one, so that nothing of them is lost. */
function joined(key: string, mine: string, other: string): string {
  if (/^(comments|files):/.test(key)) return JSON.stringify([...listIn(other), ...listIn(mine)])
  if (key.startsWith('edit:') || mine.includes(other)) return mine
  return other.includes(mine) ? other : `${mine}\n\n${other}`
}

function listIn(text: string): unknown[] {
  try {
    const list: unknown = JSON.parse(text || '[]')
    return Array.isArray(list) ? list : []
  } catch {
    return []
  }
}

/** Saves unsent texts with the application, and takes over those of other pages. */
export class UnsentKeeper {
  #timer?: ReturnType<typeof setTimeout>
  #saving: Promise<void> | undefined
  /** The texts that were sent to the application without an answer. It may have any of them. */
  readonly #unanswered = new SvelteMap<string, SvelteSet<string>>()

  constructor(private readonly call: Call) {
    onchange = () => {
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => void this.save(), pause)
    }
    addEventListener('pagehide', () => void this.save())
    addEventListener('focus', () => void this.load())
    addEventListener('storage', ({ key }) => {
      // Another page of this browser has written it.
      const name = key?.slice(place('').length) ?? ''
      if (!unsaved.has(name)) texts.delete(name)
    })
  }

  /** Takes over what the application has, and saves what it does not have. Failures are left to the next time. */
  load = async (): Promise<void> => {
    const reply = await this.call('unsent.list', {}).catch(() => undefined)
    if (!reply) return
    const beginning = basePlace('')
    for (const key of storedKeys(beginning)) unsaved.add(key.slice(beginning.length))
    for (const text of reply.texts ?? []) this.#take(text)
    await this.save()
  }

  /** Saves what is not saved yet, one text after the other. */
  save(): Promise<void> {
    clearTimeout(this.#timer)
    return (this.#saving ??= this.#save().finally(() => (this.#saving = undefined)))
  }

  async #save(): Promise<void> {
    for (let [key] = unsaved; key !== undefined; [key] = unsaved) {
      const text = readUnsent(key)
      const revision = revisions.get(key) ?? Number(recall(basePlace(key)))
      this.#unanswered.set(key, (this.#unanswered.get(key) ?? new SvelteSet<string>()).add(text))
      const reply = await this.call('unsent.set', { key, text, revision }).catch(() => undefined)
      if (!reply?.now) return // it is kept in local storage
      if (reply.taken) this.#unanswered.delete(key)
      if (!reply.taken) this.#take(reply.now)
      else {
        revisions.set(key, reply.now.revision)
        if (readUnsent(key) === text) settle(key)
        else remember(basePlace(key), String(reply.now.revision))
      }
    }
  }

  /** Takes over a text of the application, beside what this page has not saved. */
  #take({ key, text, revision }: UnsentText): void {
    const mine = readUnsent(key)
    const base = revisions.get(key) ?? Number(recall(basePlace(key)))
    revisions.set(key, revision)
    const isOwn = this.#unanswered.get(key)?.has(text)
    this.#unanswered.delete(key)
    if (mine === text) return settle(key)
    if (!unsaved.has(key)) return show(key, text)
    if (base !== revision && !isOwn) show(key, joined(key, mine, text))
    remember(basePlace(key), String(revision))
  }
}
