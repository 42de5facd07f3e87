/** What a number of calls did, counted. */
import { startsAgent } from './agents'
import { argument } from './arguments'
import { argumentsOf } from './json'
import { changedBy } from './changes'
import type { Entry, ToolEntry } from './entries'
import { isFailedCommand, isSlip } from './outcomes'
import { serverCall } from './serverCall'

export type Digest = {
  /** Files that were read. */
  read: number
  searched: number
  /** Files that were changed. */
  changed: number
  /** The lines that edits changed in them. */
  added: number
  removed: number
  /** Commands, without those that ran tests. */
  ran: number
  /** How the last command that ran tests ended. */
  tests?: 'passed' | 'failed'
  agents: number
  /** Questions that the user was asked. */
  asked: number
  /** Calls of the tools of MCP servers. */
  served: number
  /** Calls of other tools. */
  other: number
  /** Calls that failed, without commands that ran tests. */
  failed: number
  /** Calls that the user, a rule or the mode denied. */
  denied: number
}

const reading = new Set(['Read', 'ReadMany'])
const searching = new Set(['Grep', 'Glob', 'ListDir', 'LSP'])
const changing = new Set([
  'Write',
  'Edit',
  'MultiEdit',
  'NotebookEdit',
  'ApplyPatch',
  'RenameSymbol',
])

export function digestOf(entries: readonly Entry[]): Digest {
  const digest: Digest = {
    read: 0,
    searched: 0,
    changed: 0,
    added: 0,
    removed: 0,
    ran: 0,
    agents: 0,
    asked: 0,
    served: 0,
    other: 0,
    failed: 0,
    denied: 0,
  }
  const read = new Set<string>()
  const changed = new Set<string>()
  for (const entry of entries) {
    if (entry.type !== 'tool') continue
    if (entry.approval) digest.asked++
    if (entry.status === 'denied') digest.denied++
    for (const path of changedBy(entry)) changed.add(path)
    for (const change of entry.details?.changes ?? []) {
      if (entry.status !== 'done') continue
      digest.added += change.added
      digest.removed += change.removed
    }
    const tests = entry.tool === 'Bash' && isTest(commandOf(entry))
    if (tests && ['done', 'failed'].includes(entry.status)) {
      digest.tests = hasFailed(entry) ? 'failed' : 'passed'
    } else if (hasFailed(entry)) digest.failed++
    else if (entry.status === 'done') count(entry, digest, read)
  }
  return { ...digest, read: read.size, changed: changed.size }
}

function count(call: ToolEntry, digest: Digest, read: Set<string>): void {
  const { tool } = call
  if (reading.has(tool)) read.add(argument(tool, call.input))
  else if (searching.has(tool)) digest.searched++
  else if (tool === 'Bash') digest.ran++
  else if (startsAgent(tool)) digest.agents++
  else if (serverCall(tool)) digest.served++
  else if (!changing.has(tool)) digest.other++
}

const hasFailed = (call: ToolEntry): boolean => call.status === 'failed' || isFailedCommand(call)

/** The failure that a turn left behind: the last one, unless the same call succeeded after it. */
export function lastFailure(entries: readonly Entry[]): ToolEntry | undefined {
  const mended = new Set<string>()
  for (let i = entries.length - 1; i >= 0; i--) {
    const entry = entries[i]!
    if (entry.type !== 'tool') continue
    const call = `${entry.tool} ${entry.input}`
    if (entry.status === 'done' && !isFailedCommand(entry)) mended.add(call)
    else if (hasFailed(entry) && !isSlip(entry)) return mended.has(call) ? undefined : entry
  }
  return undefined
}

const commandOf = ({ input }: ToolEntry): string => {
  const { command } = argumentsOf(input)
  return typeof command === 'string' ? command : ''
}

// At the beginning of a command, behind its variables and whatever starts a program of the project.
const start = String.raw`(?:^|[;&|(\n])[^\S\n]*(?:\w+=\S*\s+)*(?:(?:npx|bunx|time|xvfb-run|(?:uv|poetry|pipenv) run|pnpm exec|bundle exec|python3? -m)\s+)*`
const runners = String.raw`(?:[^\s;&|(]*/)?(?:pytest|vitest|jest|mocha|ava|tox|nox|rspec|phpunit|ctest|bats|unittest|gotestsum|playwright test|cargo nextest)\b`
const tasks = String.raw`(?:[^\s;&|(]*/)?(?:go|cargo|npm|pnpm|yarn|bun|deno|dotnet|mix|swift|rake|make|just|mvn|mvnw|gradle|gradlew|bazel|node|rails|flutter|composer)\s+(?:-\S+\s+|run\s+|[^\s=-][^\s=]*=\S*\s+)*(?:--)?tests?\b`
const testing = new RegExp(`${start}(?:${runners}|${tasks}|make\\s+check\\b)`)

// A script is looked through no further: the time that the pattern takes grows with the square of the length.
const looked = 2_000

/** Whether a command runs tests. */
export const isTest = (command: string): boolean => testing.test(command.slice(0, looked))
