/** The user's preferences: a change applies to the page at once and is saved in the background. */
import type { Call } from '../api'
import { setLanguage } from '../i18n/i18n.svelte'
import { withChange } from '../model/withChange'
import type { Preferences } from '../types.gen'
import { keepDiffWish, setDiffWish } from './diffWish.svelte'
import { setFonts } from './fonts.svelte'
import { setContrast, setTheme } from './theme'

export class KeptPreferences {
  /** Undefined until they were loaded. */
  value = $state.raw<Preferences>()
  #call: Call
  #attempt: (work: () => Promise<void>) => Promise<void>
  #saving: Promise<void> = Promise.resolve()

  /** @param attempt runs work and shows the user its failure. */
  constructor(call: Call, attempt: (work: () => Promise<void>) => Promise<void>) {
    this.#call = call
    this.#attempt = attempt
    keepDiffWish((wish) => {
      if (this.value) void this.change({ layout: { ...this.value.layout, ...wish } })
    })
  }

  /** Ends when the changes so far are saved, or have failed. */
  get saved(): Promise<void> {
    return this.#saving
  }

  take(value: Preferences): void {
    this.value = value
    setTheme(value.theme)
    setContrast(value.high_contrast)
    setFonts(value.fonts)
    setDiffWish(value.layout)
    setLanguage(value.language)
  }

  /** Call it only once they were loaded. */
  async change(change: Partial<Preferences>): Promise<void> {
    const before = this.value!
    const wish = { ...before, ...change }
    this.take(wish)
    // One at a time, because the host may finish calls in another order than they were made.
    this.#saving = this.#saving.then(() =>
      this.#attempt(async () => {
        // Another window may have changed something else since they were loaded.
        const all = withChange(await this.#call('preferences.get', {}), before, wish)
        await this.#call('preferences.set', all)
        if (this.value === wish) this.take(all)
      }),
    )
    await this.#saving
  }
}
