import { SvelteMap } from 'svelte/reactivity'
import { asApiError, type ApiError, type Call } from '../api'
import type { Attachment } from '../model/attached'
import { pictureSource } from '../model/pictures'
import { dropUnsent, readUnsent, writeUnsent } from './unsent.svelte'

/** The files that go with a draft are kept beside its text, and like it. */
const key = (owner: string) => `files:${owner}`

/** How many files go with one message. */
const most = 20

/** Why a file was not attached. */
export type Refusal =
  | { why: 'folder' | 'many' | 'empty'; name: string }
  | { why: 'unreadable'; name: string; type: string }
  | { why: 'failed'; name: string; error: ApiError }

export function readFiles(owner: string): readonly Attachment[] {
  try {
    const list: unknown = JSON.parse(readUnsent(key(owner)) || '[]')
    return Array.isArray(list) ? (list as Attachment[]) : []
  } catch {
    return []
  }
}

export function writeFiles(owner: string, files: readonly Attachment[]): void {
  writeUnsent(key(owner), files.length > 0 ? JSON.stringify(files) : '')
}

/** Removes files from a draft, after they were sent or because the user does not want them. */
export function removeFiles(owner: string, files: readonly Attachment[]): void {
  const gone = files.map(({ path }) => path)
  writeFiles(
    owner,
    readFiles(owner).filter(({ path }) => !gone.includes(path)),
  )
}

export const dropFiles = (owner: string): void => dropUnsent(key(owner))

/** Files that a person attaches to messages: they are copied into Atelier's folder at once. */
export class Attachments {
  /** The names of the files that are being copied, by the draft that they go with. */
  readonly copying = new SvelteMap<string, readonly string[]>()
  refused = $state.raw<readonly Refusal[]>([])
  readonly #sources = new SvelteMap<string, string>()

  constructor(
    private readonly call: Call,
    private readonly fit: (file: File) => Promise<Blob>,
  ) {}

  isCopying(owner: string): boolean {
    return (this.copying.get(owner) ?? []).length > 0
  }

  /** Attaches files to a draft, one after the other. Those that cannot be are told in refused. */
  async add(owner: string, files: readonly File[]): Promise<void> {
    this.refused = []
    this.copying.set(owner, [...(this.copying.get(owner) ?? []), ...files.map(({ name }) => name)])
    for (const file of files) {
      const refusal = await this.#copy(owner, file)
      if (refusal) this.refused = [...this.refused, refusal]
      this.copying.set(owner, (this.copying.get(owner) ?? []).slice(1))
    }
  }

  async #copy(owner: string, file: File): Promise<Refusal | undefined> {
    const { name } = file
    if (readFiles(owner).length >= most) return { why: 'many', name }
    if (file.size === 0) return { why: 'empty', name }
    let data: Blob
    try {
      data = await this.fit(file)
    } catch {
      return { why: 'unreadable', name, type: file.type.replace('image/', '').toUpperCase() }
    }
    try {
      const added = await this.call('attach.add', { name, data: await base64(data) })
      const now = readFiles(owner)
      if (now.every(({ path }) => path !== added.path)) {
        writeFiles(owner, [...now, { ...added, name: name || 'picture' }])
      }
      return undefined
    } catch (error) {
      return { why: 'failed', name, error: asApiError(error) }
    }
  }

  /** The address of an attached picture; empty until it was read, or if it is gone. */
  source(path: string): string {
    const known = this.#sources.get(path)
    if (known !== undefined) return known
    queueMicrotask(() => void this.#load(path))
    return ''
  }

  async #load(path: string): Promise<void> {
    if (this.#sources.has(path)) return
    this.#sources.set(path, '')
    const file = await this.call('attach.read', { path }).catch(() => undefined)
    this.#sources.set(path, (file?.picture && pictureSource(file.picture)) ?? '')
  }

  /** The text of an attached file; undefined if it cannot be read. */
  async text(path: string): Promise<string | undefined> {
    const file = await this.call('attach.read', { path }).catch(() => undefined)
    return file?.text
  }
}

/** The bytes of a file as base64. */
const base64 = (data: Blob) =>
  new Promise<string>((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''))
    reader.onerror = () => reject(reader.error ?? new Error('the file cannot be read'))
    reader.readAsDataURL(data)
  })
