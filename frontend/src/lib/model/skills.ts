/** What skills and commands are like, and which of them a filter selects. */
import type {
  SkillCount,
  SkillFinding,
  SkillKind,
  SkillRow,
  SkillSeverity,
  SkillState,
} from '../types.gen'

/** The severities of findings, gravest first. */
const severities: readonly SkillSeverity[] = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW']

/** Whose a skill is. */
export const skillSources = ['project', 'user', 'built_in'] as const
export type SkillSource = (typeof skillSources)[number]

export const sourceOf = ({ kind, place }: SkillRow): SkillSource =>
  kind === 'built_in' ? 'built_in' : place.scope === 'user' ? 'user' : 'project'

/** What the user has to decide before a skill can be used. */
export const awaitsTrust = (is: SkillState): boolean => is === 'untrusted' || is === 'changed'

/** Which skills the list shows. */
export const skillConditions = ['any', 'ready', 'needs', 'found', 'unusable'] as const
type SkillCondition = (typeof skillConditions)[number]
export type SkillFilter = {
  words: string
  condition: SkillCondition
  source: SkillSource | 'any'
  kind: Exclude<SkillKind, 'built_in'> | 'any'
}
export const everySkill: SkillFilter = {
  words: '',
  condition: 'any',
  source: 'any',
  kind: 'any',
}

export function fitsFilter(
  row: SkillRow,
  { words, condition, source, kind }: SkillFilter,
): boolean {
  if (source !== 'any' && sourceOf(row) !== source) return false
  if (kind !== 'any' && (row.kind === 'command') !== (kind === 'command')) return false
  if (condition === 'ready' && row.state !== 'ready') return false
  if (condition === 'needs' && !awaitsTrust(row.state)) return false
  if (condition === 'found' && !row.findings?.length) return false
  if (condition === 'unusable' && row.state === 'ready') return false
  const { name, label = '', aliases = [], description = '', place } = row
  const text = [name, label, ...aliases, description, place.file].join('\n').toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

/** Counts findings by severity, gravest first. */
export function countFindings(findings: readonly SkillFinding[] = []): SkillCount[] {
  return severities
    .map((severity) => ({
      severity,
      count: findings.filter((finding) => finding.severity === severity).length,
    }))
    .filter(({ count }) => count > 0)
}

const baseOf = (path = '') => path.slice(path.lastIndexOf('/') + 1)

/** Whether a finding is about the main file of a skill, which can be edited. */
export const isInMain = (
  { file }: Pick<SkillFinding, 'file'>,
  { kind, place }: Pick<SkillRow, 'kind' | 'place'>,
): boolean => kind === 'command' || file === '' || file === baseOf(place.file)

/** The gravest severity of the findings of each line. */
export function markedLines(findings: readonly SkillFinding[]): Map<number, SkillSeverity> {
  const lines = new Map<number, SkillSeverity>()
  for (const { line, severity } of findings) {
    if (!line) continue
    const known = lines.get(line)
    if (!known || severities.indexOf(severity) < severities.indexOf(known))
      lines.set(line, severity)
  }
  return lines
}

/**
 * The findings about references, which are looked up in the skill's folder, as long as the lines that they
 * are about are still in the text; if these moved, the findings moved as well.
 */
export function standingReferences(
  findings: readonly SkillFinding[],
  before: string,
  text: string,
): SkillFinding[] {
  const [old, lines] = [before.split('\n'), text.split('\n')]
  return findings
    .filter(({ rule, line }) => rule.startsWith('REF-') && line)
    .map((finding) => ({ ...finding, line: lines.indexOf(old[finding.line! - 1] ?? '') + 1 }))
    .filter(({ line }) => line > 0)
}

/** Where a line begins and ends in a text; a line beyond the last is the last. */
export function lineSpan(text: string, line: number): [from: number, to: number] {
  let from = 0
  for (let at = 1; at < line; at++) {
    const end = text.indexOf('\n', from)
    if (end < 0) break
    from = end + 1
  }
  const end = text.indexOf('\n', from)
  return [from, end < 0 ? text.length : end]
}

/** Whether a name can be given to a new skill, or to a command, whose parts are folders. */
export const isSkillName = (name: string, kind: SkillKind): boolean =>
  name.length <= 64 &&
  (kind === 'command'
    ? /^[a-z0-9]+([-_][a-z0-9]+)*(:[a-z0-9]+([-_][a-z0-9]+)*)*$/
    : /^[a-z0-9]+(-[a-z0-9]+)*$/
  ).test(name)

/** The text with a name in its frontmatter, if that has one. */
export function withName(text: string, name: string): string {
  const [front = ''] = /^---\n[^]*?\n---(?=\n|$)/.exec(text) ?? []
  return front.replace(/^name:.*$/m, () => `name: ${name}`) + text.slice(front.length)
}
