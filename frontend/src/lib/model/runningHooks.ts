import type { HookEnd, HookOutput, HookPoint, HookStart } from '../types.gen'

/** A hook that runs now, and the last line that it printed. */
export type RunningHook = {
  readonly point: HookPoint
  readonly name: string
  /** The call that it is about. */
  readonly callId?: string
  /** What its author wants the user to read meanwhile. */
  readonly status?: string
  readonly line: string
  readonly since: number
}

/** What shows the hooks that run: a view that may be changed. */
type Shown = { hooks?: readonly RunningHook[] }

/** Hooks of events outside a turn. Their ends are reported later, so it is unknown whether they still run. */
const beside: ReadonlySet<HookPoint> = new Set([
  'teammateIdle',
  'taskCreated',
  'taskCompleted',
  'configChange',
  'fileChanged',
  'worktreeCreate',
  'worktreeRemove',
])

export function startHook(view: Shown, hook: HookStart, at: number): void {
  const { point, name, call_id: callId, status } = hook
  if (beside.has(point)) return
  view.hooks = [...(view.hooks ?? []), { point, name, callId, status, line: '', since: at }]
}

export function printHook(view: Shown, hook: HookOutput): void {
  const line = hook.text.trimEnd().split('\n').at(-1)!.trim()
  // A line that begins like this is the answer, which is for the program and not for the user.
  if (line === '' || line.startsWith('{')) return
  view.hooks = view.hooks?.map((each) => (isSame(each, hook) ? { ...each, line } : each))
}

export function leaveHook(view: Shown, hook: HookEnd): void {
  const rest = view.hooks?.filter((each) => !isSame(each, hook)) ?? []
  view.hooks = rest.length > 0 ? rest : undefined
}

const isSame = (
  running: RunningHook,
  { point, name, call_id: callId }: { point: HookPoint; name: string; call_id?: string },
): boolean => running.point === point && running.name === name && running.callId === callId
