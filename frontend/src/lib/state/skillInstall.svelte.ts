import { SvelteSet } from 'svelte/reactivity'
import type { SkillInspectReply, SkillParcel } from '../types.gen'
import { Attempts } from './resource.svelte'
import type { SkillScope } from './skillEditor.svelte'

/** Skills of a folder or an archive, and which of them the user wants. */
export class SkillInstall extends Attempts {
  /** What the folder or archive has; undefined until it was looked into. */
  found = $state.raw<SkillInspectReply>()
  /** Whether the chosen skills may replace existing ones. */
  replace = $state(false)
  #path = $state('')
  #scope = $state<SkillScope>('user')
  readonly #chosen = new SvelteSet<string>()

  get path(): string {
    return this.#path
  }

  /** Another path has other skills. */
  set path(path: string) {
    this.#path = path
    this.found = undefined
    this.problem = null
  }

  get scope(): SkillScope {
    return this.#scope
  }

  /** Which names are taken depends on the scope, so the folder is read again. */
  async move(scope: SkillScope): Promise<void> {
    this.#scope = scope
    if (this.found) await this.inspect()
  }

  get count(): number {
    return this.#chosen.size
  }

  has = ({ name }: SkillParcel): boolean => this.#chosen.has(name)

  choose({ name }: SkillParcel, wanted: boolean): void {
    if (wanted) this.#chosen.add(name)
    else this.#chosen.delete(name)
  }

  /** Whether a chosen skill would replace another. */
  readonly takes = $derived(
    (this.found?.skills ?? []).some((parcel) => parcel.taken && this.has(parcel)),
  )

  get ready(): boolean {
    return this.count > 0 && !this.busy && (!this.takes || this.replace)
  }

  /** Reads the folder or archive. At first every skill is chosen that replaces no other. */
  async inspect(): Promise<void> {
    await this.#work(async () => {
      const { path } = this
      let scope: SkillScope
      let found: SkillInspectReply
      do {
        scope = this.scope
        found = await this.call('skills.inspect', { path: path.trim(), scope })
        if (path !== this.path) return
      } while (scope !== this.scope)
      this.found = found
      this.replace = false
      this.#chosen.clear()
      for (const { name, taken } of found.skills ?? []) if (!taken) this.#chosen.add(name)
    })
  }

  /** Installs what was chosen, and returns how many those are; 0 if it failed. */
  async install(): Promise<number> {
    const { path, scope, found } = this
    if (!found) return 0
    const names = (found.skills ?? []).filter(this.has).map(({ name }) => name)
    const isDone = await this.#work(() =>
      this.call('skills.install', {
        path: path.trim(),
        scope,
        names,
        seal: found.seal,
        replace: this.takes && this.replace,
      }),
    )
    return isDone ? names.length : 0
  }

  async #work(work: () => Promise<unknown>): Promise<boolean> {
    return !this.busy && this.does(work)
  }
}
