/** The newest command that the user ran, and whether it is still running. */
import type { CommandEntry, View } from './entries'

export const newestCommand = ({ entries }: View): CommandEntry | undefined =>
  entries.findLast((entry) => entry.type === 'command')

/** Whether the session is busy with the user's command rather than with a turn. */
export const isCommandRunning = (view: View): boolean =>
  view.state === 'processing' && newestCommand(view)?.status === 'running'
