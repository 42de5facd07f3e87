import type { Call } from '../api'
import { everySkill, type SkillFilter } from '../model/skills'
import type {
  Envelope,
  SkillFileReply,
  SkillRow,
  SkillsReply,
  SkillShown,
  SkillTemplate,
  SkillTryReply,
  SkillTryRequest,
} from '../types.gen'
import { Resource } from './resource.svelte'
import { SkillEditor } from './skillEditor.svelte'
import { SkillInstall } from './skillInstall.svelte'
import type { Trust } from './trust.svelte'

/** The skills and commands of the user and of the project. */
export class Skills extends Resource {
  list = $state.raw<SkillsReply>()
  filter = $state.raw<SkillFilter>(everySkill)
  /** The id of the skill that is looked at. */
  open = $state<string>()
  /** Everything about that skill; undefined until it was read. */
  shown = $state.raw<SkillShown>()
  /** The skill that the user writes. */
  editor = $state.raw<SkillEditor>()
  templates = $state.raw<readonly SkillTemplate[]>([])
  /** What the user installs. */
  installing = $state.raw<SkillInstall>()
  readonly trust: Trust
  /** Called once a skill is in the message field. */
  onuse: () => void = () => {}
  #session = ''

  constructor(call: Call, trust: Trust) {
    super(call)
    this.trust = trust
  }

  get rows(): readonly SkillRow[] {
    return this.list?.skills ?? []
  }

  receive(envelope: Envelope): void {
    if (!envelope.events?.some(({ kind }) => kind === 'skills_change')) return
    void this.trust.load()
    void this.refresh()
  }

  /** Follows a session; without one, the project. */
  follow(session: string | undefined): void {
    this.#session = session ?? ''
    void this.load()
  }

  /** Reads them again if they were read. */
  async refresh(): Promise<void> {
    if (this.list) await this.load()
  }

  readonly load = this.reading(
    () => {
      const id = this.editor?.row?.id ?? this.open
      return Promise.all([
        this.call('skills.list', { session: this.#session || undefined }),
        id ? this.call('skills.show', { id }).catch(() => undefined) : undefined,
        id,
      ])
    },
    ([list, shown, id]) => {
      this.list = list
      if (id) this.#meet(id, shown)
    },
  )

  /** Finds a skill by its id, or by its file as it is shown; one that is built in by its name. */
  find = (of: string): SkillRow | undefined =>
    this.rows.find(({ id, kind, name, place }) =>
      [id, kind === 'built_in' ? name : place.file].includes(of),
    )

  async show(id: string | undefined): Promise<void> {
    this.open = id
    this.shown = undefined
    this.problem = null
    await this.load()
  }

  switch(id: string, on: boolean): Promise<boolean> {
    return this.change(() => this.call('skills.switch', { id, on }))
  }

  remove(id: string): Promise<boolean> {
    return this.change(async () => {
      await this.call('skills.remove', { id })
      if (this.open === id) this.open = this.shown = undefined
    })
  }

  /** Puts a removed skill back where it was. */
  restore(id: string): Promise<boolean> {
    return this.change(() => this.call('skills.restore', { id }))
  }

  /** Looks for them again, because changes in some folders are not reported. */
  reload(): Promise<boolean> {
    return this.change(() => this.call('skills.reload', {}))
  }

  file(id: string, path: string): Promise<SkillFileReply> {
    return this.call('skills.file', { id, path })
  }

  /** The prompt that a model would get. */
  try(request: SkillTryRequest): Promise<SkillTryReply> {
    return this.call('skills.try', request)
  }

  /** Opens the editor for the skill that is looked at, at a line. */
  edit(line = 0): void {
    this.problem = null
    if (this.shown) this.#write(new SkillEditor(this.call, this.shown, line))
  }

  /** Opens the editor for a new skill. */
  async create(): Promise<void> {
    await this.attempt(async () => {
      this.templates = (await this.call('skills.templates', {})).templates ?? []
      const editor = new SkillEditor(this.call)
      const first = this.templates.find(({ kind }) => kind === editor.kind)
      editor.begin(first?.text ?? '')
      this.#write(editor)
    })
  }

  /** Saves what the editor has, and shows it; false if that failed. */
  async save(): Promise<boolean> {
    const { editor } = this
    if (!editor || this.busy) return false
    this.busy = true
    const id = await editor.save()
    this.busy = false
    if (id === undefined) return false
    this.leave()
    await this.show(id)
    return true
  }

  /** Closes the editor; what is not saved is lost. */
  leave(): void {
    this.editor?.close()
    this.editor = undefined
    removeEventListener('beforeunload', this.#guard)
  }

  choose(): void {
    this.problem = null
    this.installing = new SkillInstall(this.call)
  }

  /** Installs what was chosen, and returns how many those are. */
  async install(): Promise<number> {
    const count = (await this.installing?.install()) ?? 0
    if (count > 0) this.installing = undefined
    await this.load()
    return count
  }

  #write(editor: SkillEditor): void {
    this.leave()
    this.editor = editor
    addEventListener('beforeunload', this.#guard)
  }

  /** Before the page is left with unsaved text, the user is asked. */
  readonly #guard = (event: BeforeUnloadEvent): void => {
    if (this.editor?.changed) event.preventDefault()
  }

  /** Takes note of the file's current content. */
  #meet(id: string, shown: SkillShown | undefined): void {
    if (this.editor?.row?.id === id) {
      if (shown) this.editor.meet(shown)
      else this.editor.gone = true
    }
    if (this.open !== id) return
    this.shown = shown
    if (!shown) this.open = undefined // it was removed
  }
}
