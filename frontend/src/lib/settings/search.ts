/** Finds settings by what a person calls them. */
import type { Setting, SettingsTab } from './registry'

/** A setting and where it is. */
export type Found = Setting & { tab: SettingsTab; place: string }

const plain = (text: string) => text.normalize('NFKC').toLowerCase()

/**
 * The settings that have every typed word somewhere: first those whose name has them, then those
 * that are searched by such words, then the rest, in their order in the tabs.
 */
export function matching(all: readonly Found[], wanted: string): Found[] {
  const typed = plain(wanted).split(/\s+/).filter(Boolean)
  const has = (...texts: (string | undefined)[]) => {
    const text = plain(texts.join(' '))
    return typed.every((word) => text.includes(word))
  }
  const rank = ({ label, words }: Found) => (has(label) ? 0 : has(label, words) ? 1 : 2)
  return all
    .filter(({ label, hint, place, words }) => has(label, hint, place, words))
    .toSorted((a, b) => rank(a) - rank(b))
}
