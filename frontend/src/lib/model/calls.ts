/** How events change the tool calls and the user's commands of a view. */
import { findOpen, replace, type Writable } from './change'
import type { CommandEntry, ToolEntry } from './entries'
import type { FilesChanged, LocalCommandEnd, ToolCallEnd } from '../types.gen'

/** Clears the draft of a call whose arguments are known. */
export const noDraft = { draftBytes: undefined, outline: undefined }

const pathsOf = (changed: FilesChanged | undefined) =>
  changed?.files?.length ? changed.files.map(({ path }) => path) : undefined

export const findCall = (view: Writable, callId: string) =>
  findOpen(view, (e): e is ToolEntry => e.type === 'tool' && e.callId === callId)

/** The entry of a call, which is created when it is first mentioned: a page of history may begin after its start. */
export function callEntry(view: Writable, callId: string, tool: string, at: number): ToolEntry {
  const found = findCall(view, callId)
  if (found) return found
  const fresh: ToolEntry = {
    type: 'tool',
    key: `c${callId}`,
    callId,
    tool,
    input: '',
    status: 'drafting',
    output: '',
    outputFrom: 0,
    startedAt: at,
  }
  view.entries.push(fresh)
  return fresh
}

export function finishCall(
  view: Writable,
  end: ToolCallEnd,
  seq: number | undefined,
  at: number,
): void {
  view.pending = view.pending.filter((request) => request.call_id !== end.call_id)
  replace(view, callEntry(view, end.call_id, end.tool, at), {
    tool: end.tool,
    status: end.outcome,
    output: end.output,
    outputFrom: 0,
    durationMs: end.duration_ms,
    details: end.details,
    files: pathsOf(end.files),
    size: end.size,
    media: end.media,
    authority: end.authority,
    seq,
    ...noDraft,
  })
}

export const findCommand = (view: Writable, id: string) =>
  findOpen(view, (e): e is CommandEntry => e.type === 'command' && e.id === id)

/** The entry of a command, which is created when it is first mentioned. */
export function commandEntry(
  view: Writable,
  id: string,
  command: string,
  at: number,
): CommandEntry {
  const found = findCommand(view, id)
  if (found) return found
  const fresh: CommandEntry = {
    type: 'command',
    key: `l${id}`,
    id,
    command,
    status: 'running',
    output: '',
    outputFrom: 0,
    startedAt: at,
  }
  view.entries.push(fresh)
  return fresh
}

export function finishCommand(
  view: Writable,
  { id, command, output, outcome, duration_ms: durationMs, size, result, files }: LocalCommandEnd,
  seq: number | undefined,
  at: number,
): void {
  view.state = 'idle'
  const entry = commandEntry(view, id, command, at)
  const change = {
    status: outcome,
    output,
    outputFrom: 0,
    durationMs,
    size,
    result,
    files: pathsOf(files),
    seq,
  }
  replace(view, entry, change)
}
