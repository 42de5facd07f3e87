import { SvelteSet } from 'svelte/reactivity'
import { asApiError, type Call } from '../api'
import type {
  ExportReview,
  SecretFinding,
  ShareInfo,
  ShareList,
  ShareReach,
  ShareRequest,
} from '../types.gen'
import { Attempts } from './resource.svelte'
import { saveExport } from './transcripts.svelte'

/** The shares of sessions: who may watch what, and until when. */
export class Shares {
  all = $state.raw<ShareInfo[]>([])
  /** The program that can make a tunnel; empty if there is none. */
  tunnel = $state('')

  constructor(private call: Call) {}

  sharing = (session: string, language: string) => new Sharing(this.call, this, session, language)

  async read(): Promise<ShareList> {
    return this.take(await this.call('share.list', {}))
  }

  async revoke(id: string): Promise<void> {
    this.take(await this.call('share.revoke', { id }))
  }

  private take(list: ShareList): ShareList {
    this.all = list.shares ?? []
    this.tunnel = list.tunnel ?? ''
    return list
  }
}

const lines = (text: string) => text.split('\n').filter((line) => line.trim() !== '')

/** A session that is about to be shared. */
class Sharing extends Attempts {
  /** Who can reach it; a file is a recording, which is not live. */
  reach = $state<ShareReach | 'file'>('machine')
  hours = $state(24)
  password = $state('')
  output = $state(true)
  reasoning = $state(true)
  costs = $state(false)
  home = $state(true)
  words = $state('')
  patterns = $state('')
  review = $state.raw<ExportReview>()
  /** The link, which only this page has. */
  link = $state('')
  readonly kept = new SvelteSet<string>()
  #newest = 0

  constructor(
    call: Call,
    private shares: Shares,
    private session: string,
    private language: string,
  ) {
    super(call)
  }

  /** Reads what the user last had taken out, and looks for secrets. */
  async begin() {
    try {
      const { words, patterns } = await this.shares.read()
      this.words = words?.join('\n') ?? ''
      this.patterns = patterns?.join('\n') ?? ''
    } catch (thrown) {
      this.problem = asApiError(thrown)
      return
    }
    await this.look()
  }

  get #request(): Omit<ShareRequest, 'reach' | 'hours' | 'password'> {
    return {
      session: this.session,
      no_output: !this.output,
      no_reasoning: !this.reasoning,
      costs: this.costs,
      language: this.language,
      redact: {
        keep: [...this.kept],
        words: lines(this.words),
        patterns: lines(this.patterns),
        home: this.home,
      },
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

  /** Looks for secrets in what viewers would see so far. Only the newest answer counts. */
  async look() {
    const asked = ++this.#newest
    this.problem = null
    const { session, no_output, no_reasoning, language, redact } = this.#request
    const wanted = { session, no_output, no_reasoning, language, redact, format: 'md' as const }
    try {
      const review = await this.call('transcripts.review', wanted)
      if (asked === this.#newest) this.review = review
    } catch (thrown) {
      if (asked === this.#newest) this.problem = asApiError(thrown)
    }
  }

  async start() {
    const { reach, hours, password } = this
    if (reach === 'file') return this.record()
    await this.attempt(async () => {
      const request = { ...this.#request, reach, hours, password }
      this.link = (await this.call('share.start', request)).link
      this.password = ''
      await this.shares.read()
    })
  }

  /** Saves a recording. Its link has the key, which nothing else has. */
  private async record() {
    await this.attempt(async () => {
      const request = { ...this.#request, format: 'recording' as const }
      const { path, token, name, key } = await saveExport(this.call, request)
      if (path ?? token) this.link = `${path ? fileLink(path) : name}#${key}`
    })
  }
}

/** The address of a file, with which a browser opens it. */
const fileLink = (path: string) =>
  'file://' +
  path
    .replaceAll('\\', '/')
    .replace(/^(?!\/)/, '/')
    .split('/')
    .map(encodeURIComponent)
    .join('/')
    .replace(/^\/([A-Za-z])%3A\//, '/$1:/')
