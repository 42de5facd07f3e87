/** Finds settings by what a person calls them. */
import type { Setting, SettingsTab } from './registry'

/** A setting and where it is. */
export type Found = Setting & { tab: SettingsTab; place: string }

const plain = (text: string) => text.normalize('NFKC').toLowerCase()

/** The settings that have every typed word somewhere: first those whose name has them, in their order in the tabs. */
export function matching(all: readonly Found[], wanted: string): Found[] {
  const words = plain(wanted).split(/\s+/).filter(Boolean)
  const has = (text: string) => words.every((word) => plain(text).includes(word))
  const isNamed = ({ label }: Found) => has(label)
  const found = all.filter(({ label, hint, place, words }) =>
    has([label, hint, place, words].join(' ')),
  )
  return [...found.filter(isNamed), ...found.filter((each) => !isNamed(each))]
}
