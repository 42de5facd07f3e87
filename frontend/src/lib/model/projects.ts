/** The recent projects that match what the user typed: words that occur in the name, the path or the branch. */
import type { RecentProject } from '../types.gen'

export function matching(list: readonly RecentProject[], wanted: string): RecentProject[] {
  const words = wanted.toLocaleLowerCase().split(/\s+/).filter(Boolean)
  return list.filter(({ path, name, branch }) => {
    const text = `${path} ${name} ${branch ?? ''}`.toLocaleLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** The part of a path before its last name, with the separator. */
export const parentOf = (path: string): string => path.replace(/[^/\\]*$/, '')
