/** The user's preferences: a change applies to the page at once and is saved in the background. */
import { ApiError, type Call } from '../api'
import { setLanguage, t } from '../i18n/i18n.svelte'
import type { Preferences } from '../types.gen'
import { keepDiffView, setDiffView } from './diffView.svelte'
import { setFonts } from './fonts.svelte'
import { setContrast, setTheme } from './theme'

export class KeptPreferences {
  /** Undefined until they were loaded. */
  value = $state.raw<Preferences>()
  #call: Call
  #attempt: (work: () => Promise<void>) => Promise<void>
  /** The preferences before the changes that no call has sent yet. */
  #unsaved: Preferences | undefined
  #saving: Promise<void> | undefined

  /** @param attempt runs work and shows the user its failure. */
  constructor(call: Call, attempt: (work: () => Promise<void>) => Promise<void>) {
    this.#call = call
    this.#attempt = attempt
    addEventListener('pagehide', () => {
      if (this.#unsaved) void this.#send()
    })
    addEventListener('focus', () => void this.#look())
    keepDiffView((view) => {
      if (this.value) void this.change({ layout: { ...this.value.layout, ...view } })
    })
  }

  /** Ends when the changes so far are saved, or have failed. */
  get saved(): Promise<void> {
    return this.#saving ?? Promise.resolve()
  }

  /** Applies preferences. Ends once the page is in their language, whose texts may have to be loaded. */
  take(value: Preferences): Promise<void> {
    this.value = value
    setTheme(value.theme)
    setContrast(value.high_contrast)
    setFonts(value.fonts)
    setDiffView(value.layout)
    return this.#attempt(() => setLanguage(value.language).catch(notLoaded))
  }

  /** Call it only once they were loaded. */
  async change(change: Partial<Preferences>): Promise<void> {
    const before = this.value!
    void this.take({ ...before, ...change })
    this.#unsaved ??= before
    this.#saving ??= this.#save().finally(() => (this.#saving = undefined))
    await this.#saving
  }

  /** Takes over what another page has changed meanwhile. Each page keeps its own layout. */
  async #look(): Promise<void> {
    const before = this.value
    if (!before || this.#saving) return
    const stored = await this.#call('preferences.get', {}).catch(() => undefined)
    if (!stored || this.value !== before) return // it cannot be read now, or the user has changed something
    const { layout } = before
    if (JSON.stringify({ ...stored, layout }) !== JSON.stringify({ ...before, layout })) {
      void this.take({ ...stored, layout })
    }
  }

  /** One call at a time, because the host may finish calls in another order than they were made. */
  async #save(): Promise<void> {
    while (this.#unsaved) await this.#attempt(() => this.#send())
  }

  async #send(): Promise<void> {
    const [before, after] = [this.#unsaved!, this.value!]
    this.#unsaved = undefined
    const stored = await this.#call('preferences.change', { before, after })
    if (this.value === after) void this.take(stored)
  }
}

function notLoaded(): never {
  throw new ApiError({
    code: 'unavailable',
    message: t('settings.language_failed'),
    next: t('settings.language_failed_next'),
  })
}
