import { SvelteMap, SvelteSet } from 'svelte/reactivity'
import { oneAtATime } from '../model/oneAtATime'
import type { BlameReply, FilePreview, FilesReply, FileState } from '../types.gen'
import { Attempts } from './resource.svelte'

/** What happened to a file since the last commit, and whether the open session did it. */
export type FileMark = { state?: FileState; session?: boolean }

/** The files of the project, and the one that is shown, with who wrote its lines. */
export class Files extends Attempts {
  list = $state.raw<FilesReply>()
  filter = $state('')
  readonly open = new SvelteSet<string>()
  /** The file that is shown, and its first lines. */
  path = $state<string>()
  file = $state.raw<BlameReply>()
  /** How the file is shown, if it is not its text. */
  preview = $state.raw<FilePreview>()
  /** Whether a file of Markdown is shown as it is read. */
  reads = $state(true)
  /** The files that were changed. */
  marks = $state.raw<ReadonlyMap<string, FileMark>>(new SvelteMap())
  /** Whether who wrote the lines is shown. */
  blames = $state(true)
  /** The session whose worktree has the files; without one, they are the project's. */
  #session?: string
  #marked: string | undefined
  /** Whether more than the first lines of the file were read. */
  #isLonger = false

  /** Reads the list, of a worktree if the session has one. Another list starts from the beginning. */
  load(session?: string): Promise<void> {
    if (session !== this.#session) {
      this.#session = session
      this.list = this.path = this.file = undefined
    }
    return this.attempt(async () => {
      const list = await this.call('files.list', { session })
      if (session === this.#session) this.list = list
    })
  }

  /** Asks which files were changed, also by a session. */
  mark(session: string | undefined): Promise<void> {
    this.#marked = session
    return this.#mark()
  }

  /** Reads which files were changed, since the last commit and by a session. Without git, there are no marks of it. */
  readonly #mark = oneAtATime(async () => {
    const session = this.#marked
    const marks = new SvelteMap<string, FileMark>()
    for (const scope of session
      ? (['uncommitted', 'session'] as const)
      : (['uncommitted'] as const)) {
      try {
        const { files = [] } = await this.call('changes.list', { session, scope })
        for (const { path, state } of files) {
          const more = scope === 'session' ? { session: true } : { state }
          marks.set(path, { ...marks.get(path), ...more })
        }
      } catch {
        // The files are shown without these marks.
      }
    }
    this.marks = marks
  })

  /** Follows what others change in the folders that are shown, until the returned function is called. */
  follow(session: string | undefined): () => void {
    let isOver = false
    const folders = ['.', ...this.open].slice(0, mostFollowed)
    const go = async () => {
      for (let stamp = ''; !isOver;) {
        try {
          const seen = await this.call('files.wait', { session, folders, stamp })
          if (isOver) return
          stamp = seen.stamp
          if (seen.changed) await Promise.all([this.look(), this.#mark()])
        } catch {
          return // the window reads the files again when it gets the focus
        }
      }
    }
    const timer = setTimeout(() => void go(), beforeFollowing)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }

  toggle(folder: string): void {
    if (!this.open.delete(folder)) this.open.add(folder)
  }

  /** Shows a file, or the list again. */
  async show(path?: string): Promise<void> {
    this.path = path
    this.file = this.preview = undefined
    this.#isLonger = false
    // A file may have gone since the list was read.
    await (path ? this.#read(path, undefined) : this.load(this.#session))
  }

  /** Reads the lines that follow those that are shown. */
  async more(): Promise<void> {
    if (this.path && this.file?.next) await this.#read(this.path, this.file)
  }

  /** Reads again what is shown, because others may have changed it. A file of which more was read stays as it is. */
  look(): Promise<void> {
    const { path, file } = this
    if (!path) return this.load(this.#session)
    if (this.#isLonger) return Promise.resolve()
    return this.attempt(async () => {
      const session = this.#session
      const isHere = () => this.#session === session && this.path === path && this.file === file
      try {
        const page = await this.call('files.blame', { session, path, texts: true })
        if (isHere()) this.file = page
      } catch (thrown) {
        if (!isHere()) return
        this.file = undefined
        throw thrown
      }
    })
  }

  edit(path: string): Promise<void> {
    return this.attempt(
      async () => void (await this.call('files.open', { session: this.#session, path })),
    )
  }

  #read(path: string, before: BlameReply | undefined): Promise<void> {
    return this.attempt(async () => {
      const session = this.#session
      if (seen.test(path)) {
        const preview = await this.call('files.preview', { session, path })
        if (this.#session !== session || this.path !== path) return
        if (preview.kind !== 'other') return void (this.preview = preview)
      }
      const from = before?.next
      const page = await this.call('files.blame', { session, path, texts: true, from })
      if (this.#session !== session || this.path !== path || this.file !== before) return
      this.file = joined(before, page)
      this.#isLonger = before !== undefined
    })
  }
}

/** How many folders are followed, and how long after the last one was opened, in ms. */
const mostFollowed = 200
const beforeFollowing = 300

/** The files that are seen, not read. */
const seen = /\.(?:png|jpe?g|gif|webp|pdf)$/i

/** Two parts of a file as one. */
function joined(before: BlameReply | undefined, page: BlameReply): BlameReply {
  if (!before) return page
  const { steps = [], runs = [], texts = [] } = before
  const moved = (page.runs ?? []).map((run) =>
    run.by === 'step' ? { ...run, step: (run.step ?? 0) + steps.length } : run,
  )
  return {
    ...page,
    runs: [...runs, ...moved],
    steps: [...steps, ...(page.steps ?? [])],
    texts: [...texts, ...(page.texts ?? [])],
  }
}
