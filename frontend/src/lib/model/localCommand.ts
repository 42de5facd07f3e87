/** A command that the user ran: the newest one, and whether it still runs. */
import type { CommandEntry, View } from './entries'

export const newestCommand = ({ entries }: View): CommandEntry | undefined =>
  entries.findLast((entry) => entry.type === 'command')

/** What makes the session busy is a command of the user's, no turn. */
export const isCommandRunning = (view: View): boolean =>
  view.state === 'processing' && newestCommand(view)?.status === 'running'
