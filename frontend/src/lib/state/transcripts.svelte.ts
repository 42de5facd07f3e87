import { SvelteSet } from 'svelte/reactivity'
import { type ApiError, asApiError, type Call } from '../api'
import type {
  Exported,
  ExportFormat,
  ExportRequest,
  ExportReview,
  FoundTranscript,
  ImportReply,
  ImportRequest,
  Piece,
  Program,
  SecretFinding,
  Watched,
} from '../types.gen'
import { Attempts } from './resource.svelte'

/** Exports a session after a review of its secrets, and imports transcripts. */
export class Transcripts {
  constructor(private call: Call) {}

  exporting = (session: string, language: string) => new Exporting(this.call, session, language)

  async found(offset: number) {
    const { found = [], total, folder } = await this.call('transcripts.found', { offset })
    return { found, total, folder } satisfies {
      found: FoundTranscript[]
      total: number
      folder: string
    }
  }

  import = (request: ImportRequest): Promise<ImportReply> =>
    this.call('transcripts.import', request)

  /** The share of a file that has been read, from 0 to 1; undefined if none is being read. */
  async progress(): Promise<number | undefined> {
    const { path, done } = await this.call('transcripts.progress', {})
    return path ? done : undefined
  }

  watching = (program: Program, name: string) => new Watching(this.call, program, name)

  /** Finds words in sessions of other programs, or who of them wrote the lines of a file. */
  search = (query: string) => this.call('transcripts.search', { query })

  stopImport = () => this.call('transcripts.stop_import', {})
}

/** A session of another program that is watched while it happens. */
class Watching {
  pieces = $state.raw<readonly Piece[]>([])
  told = $state.raw<Omit<Watched, 'pieces'>>()
  problem = $state.raw<ApiError | null>(null)
  /** The place of the first piece. */
  first = $state(0)

  constructor(
    private call: Call,
    readonly program: Program,
    readonly name: string,
  ) {}

  /** Reads what is new, and reports whether there was something. */
  async read(): Promise<boolean> {
    const { program, name } = this
    try {
      const version = this.told?.version ?? ''
      const { pieces = [], ...told } = await this.call('transcripts.watch', {
        program,
        name,
        version,
      })
      this.problem = null
      if (told.version === version) return false
      if (told.from < this.first || !version) this.first = told.from
      this.pieces = [...this.pieces.slice(0, told.from - this.first), ...pieces]
      this.told = told
      return true
    } catch (thrown) {
      this.problem = asApiError(thrown)
      return false
    }
  }

  /** Reads the pieces before the first one. */
  async earlier(): Promise<void> {
    const { program, name, first: before } = this
    try {
      const { pieces = [], from } = await this.call('transcripts.watch', { program, name, before })
      if (before !== this.first) return
      this.pieces = [...pieces, ...this.pieces]
      this.first = from
    } catch (thrown) {
      this.problem = asApiError(thrown)
    }
  }
}

/** A session that is about to be exported. */
export class Exporting extends Attempts {
  format = $state<ExportFormat>('html')
  output = $state(true)
  reasoning = $state(true)
  home = $state(false)
  words = $state('')
  review = $state.raw<ExportReview>()
  readonly kept = new SvelteSet<string>()
  #newest = 0

  constructor(
    call: Call,
    private session: string,
    private language: string,
  ) {
    super(call)
  }

  get #request(): ExportRequest {
    const words = this.words.split('\n').filter((word) => word.trim() !== '')
    return {
      session: this.session,
      format: this.format,
      no_output: !this.output,
      no_reasoning: !this.reasoning,
      language: this.language,
      redact: { keep: [...this.kept], words, home: this.home },
    }
  }

  /** Keeps a secret, or takes it out again; with all of its kind if wished. */
  keep(finding: SecretFinding, kept: boolean, alike = false) {
    for (const { id, kind } of this.review?.findings ?? []) {
      if (id !== finding.id && !(alike && kind === finding.kind)) continue
      if (kept) this.kept.add(id)
      else this.kept.delete(id)
    }
    void this.look()
  }

  /** Looks for secrets and shows the beginning of what would leave. Only the newest answer counts. */
  async look() {
    const asked = ++this.#newest
    this.problem = null
    try {
      const review = await this.call('transcripts.review', this.#request)
      if (asked === this.#newest) this.review = review
    } catch (thrown) {
      if (asked === this.#newest) this.problem = asApiError(thrown)
    }
  }

  /** Saves the export, and reports whether it was saved. */
  async save(): Promise<boolean> {
    const isSaved = await this.attempt(async () => {
      const { token, path } = await saveExport(this.call, this.#request)
      return Boolean(token ?? path)
    })
    return isSaved ?? false
  }
}

/** Saves an export where the user says. In a browser it becomes a download. */
export async function saveExport(call: Call, request: ExportRequest): Promise<Exported> {
  const saved = await call('transcripts.save', request)
  if (saved.token) download(saved.name, await partsOf(call, saved.token))
  return saved
}

async function partsOf(call: Call, token: string): Promise<BlobPart[]> {
  const parts: BlobPart[] = []
  let offset = 0
  do {
    const { data, next } = await call('transcripts.read', { token, offset })
    if (data) parts.push(Uint8Array.from(atob(data), (char) => char.charCodeAt(0)))
    offset = next ?? 0
  } while (offset > 0)
  return parts
}

function download(name: string, parts: BlobPart[]) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob(parts, { type: 'application/octet-stream' }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
