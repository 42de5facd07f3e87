/** Which skills are in use, and what they allow. */
import type { SkillUse } from '../types.gen'

/** How many skills may be in use inside each other. */
const deepest = 4

/** The skills in use once one of them began or ended, as Go folds them; the outermost is the first. */
export function skillsAfter(before: readonly SkillUse[] = [], use: SkillUse): SkillUse[] {
  const isOpen = before.length > 0 && !before.at(-1)!.by_user
  if (use.ended) return isOpen ? before.slice(0, -1) : [...before]
  return before.length < deepest ? [...before, { ...use, args: undefined }] : [...before]
}

/** What a skill allows: every tool, none, only some, or all but some. */
export type Limits = { allows: 'all' | 'none' | 'only' | 'but'; tools: readonly string[] }

export function limitsOf({ limited, tools = [], denied = [] }: SkillUse): Limits {
  if (limited) return { allows: tools.length > 0 ? 'only' : 'none', tools }
  return { allows: denied.length > 0 ? 'but' : 'all', tools: denied }
}
