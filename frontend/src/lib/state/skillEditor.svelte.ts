import { type ApiError, asApiError, type Call } from '../api'
import { isSkillName, standingReferences, withName } from '../model/skills'
import { oneAtATime } from '../model/oneAtATime'
import type { Scope, SkillFinding, SkillKind, SkillRow, SkillShown } from '../types.gen'

/** How long the user pauses before what is written is checked. */
const pauseMs = 250

/** The scopes in which the user can make a skill. */
export const skillScopes = ['user', 'project'] as const satisfies readonly Scope[]
export type SkillScope = (typeof skillScopes)[number]

/** A text as a text field has it: all lines end with a line feed. */
const lined = (text: string) => text.replace(/\r\n?/g, '\n')

/** The text of a skill that the user writes, and what is wrong with it. Nothing that the user wrote is lost unless the user says so. */
export class SkillEditor {
  kind = $state<Exclude<SkillKind, 'built_in'>>('skill')
  scope = $state<SkillScope>('user')
  /** What the file contains; undefined for a new skill. */
  readonly row?: SkillRow
  findings = $state.raw<readonly SkillFinding[]>([])
  /** What the file contains by now, if that differs from what the user began with. */
  theirs = $state.raw<{ text: string; version: string }>()
  /** The skill that the user changes was removed. */
  gone = $state(false)
  /** A text of the user that another one replaced. */
  replaced = $state<string>()
  problem = $state.raw<ApiError | null>(null)
  /** The line to go to at first. */
  readonly line: number
  #name = $state('')
  #text = $state('')
  #base = $state('')
  #version: string
  /** The findings, with the text that they are about. */
  #found: { findings: readonly SkillFinding[]; text: string }
  #crlf: boolean
  #pause: ReturnType<typeof setTimeout> | undefined
  #call: Call

  constructor(call: Call, shown?: SkillShown, line = 0) {
    this.#call = call
    this.row = shown?.row
    this.line = line
    this.#text = this.#base = lined(shown?.text ?? '')
    this.#crlf = shown?.text.includes('\r\n') ?? false
    this.#version = shown?.version ?? ''
    this.findings = shown?.findings ?? []
    this.#found = { findings: this.findings, text: this.#text }
    if (!shown) return
    this.#name = shown.row.name
    this.kind = shown.row.kind === 'command' ? 'command' : 'skill'
    this.scope = shown.row.place.scope === 'user' ? 'user' : 'project'
  }

  get name(): string {
    return this.#name
  }

  /** Names a new skill, in its text as well. */
  rename(name: string): void {
    this.#name = name.trim()
    const wasChanged = this.#text !== this.#base
    this.#text = this.#named(this.#text)
    if (!wasChanged) this.#base = this.#text
    this.look()
  }

  get text(): string {
    return this.#text
  }

  /** Whether something is written that is not saved. */
  get changed(): boolean {
    return this.#text !== this.#base || this.replaced !== undefined
  }

  /** Whether it can be saved. */
  get ready(): boolean {
    if (this.theirs || this.#text.trim() === '') return false
    return this.#isNew ? isSkillName(this.name, this.kind) : this.changed
  }

  get #isNew(): boolean {
    return !this.row || this.gone
  }

  write(text: string): void {
    this.#text = lined(text)
    this.problem = null
    this.look()
  }

  /** Begins with a text; the user's own can be brought back. */
  begin(text: string): void {
    if (this.#text !== this.#base) this.replaced = this.#text
    this.#text = this.#base = this.#named(lined(text))
    this.look()
  }

  bringBack(): void {
    this.write(this.replaced ?? this.#text)
    this.replaced = undefined
  }

  /** Checks what is written once the user pauses. */
  look(): void {
    clearTimeout(this.#pause)
    this.#pause = setTimeout(() => void this.#check(), pauseMs)
  }

  /** Takes note of the file's current content. */
  meet({ text, version, findings = [] }: SkillShown): void {
    this.gone = false
    this.#found = { findings, text: lined(text) }
    this.theirs = undefined
    if (version === this.#version) return
    if (lined(text) === this.#text || !this.changed) this.#take(text, version)
    else this.theirs = { text, version }
  }

  /** Goes on with the file's current content; the user's text can be brought back. */
  takeTheirs(): void {
    const { theirs } = this
    if (!theirs) return
    this.replaced = this.#text
    this.#take(theirs.text, theirs.version)
  }

  /** Goes on with the user's text, which replaces the file's once it is saved. */
  keepMine(): void {
    const { theirs } = this
    if (!theirs) return
    this.#base = lined(theirs.text)
    this.#version = theirs.version
    this.theirs = undefined
  }

  /** Saves it and returns its id; undefined if that failed. */
  async save(): Promise<string | undefined> {
    this.problem = null
    const written = this.#text
    const text = this.#crlf ? written.replaceAll('\n', '\r\n') : written
    const { name, kind, scope } = this
    try {
      const { id } = await this.#call(
        'skills.save',
        this.#isNew
          ? { name, kind, scope, text }
          : { id: this.row!.id, version: this.#version, text },
      )
      this.#base = written
      this.replaced = undefined
      return id
    } catch (thrown) {
      await this.#explain(asApiError(thrown))
      return undefined
    }
  }

  close(): void {
    clearTimeout(this.#pause)
  }

  /** Says why it was not saved: another program changed it, or something else. */
  async #explain(problem: ApiError): Promise<void> {
    if (!this.#isNew) {
      try {
        this.meet(await this.#call('skills.show', { id: this.row!.id }))
      } catch {
        // The first problem says enough.
      }
    }
    if (!this.theirs) this.problem = problem
  }

  #named = (text: string): string => (this.#name ? withName(text, this.#name) : text)

  #take(text: string, version: string): void {
    this.#text = this.#base = lined(text)
    this.#crlf = text.includes('\r\n')
    this.#version = version
    this.theirs = undefined
    this.look()
  }

  readonly #check = oneAtATime(async () => {
    const { text, kind, name } = this
    const id = this.row?.id
    try {
      const { findings = [] } = await this.#call('skills.check', { id, kind, name, text })
      if (text !== this.text) return
      // References are not looked up for a text that is not saved.
      const isNew = (other: SkillFinding) =>
        findings.every(({ rule, line }) => rule !== other.rule || line !== other.line)
      const { findings: before, text: found } = this.#found
      this.findings = [...findings, ...standingReferences(before, found, text).filter(isNew)]
    } catch (thrown) {
      if (text === this.text) this.problem = asApiError(thrown)
    }
  })
}
