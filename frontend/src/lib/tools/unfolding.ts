/** Which cards open by themselves: what failed in the world, not what the agent got wrong and mends. */
import type { ToolEntry } from '../model/entries'

/** A command that ended with an exit code other than 0, and was not stopped. */
export const isFailedCommand = ({ details, status }: ToolEntry): boolean =>
  status !== 'interrupted' && details?.command !== undefined && details.command.exit_code !== 0

/**
 * A call that came to nothing: wrong arguments, a file that was not read first.
 * The agent is told, and does it otherwise; nobody else has to act.
 */
export const isSlip = (call: ToolEntry): boolean => call.status === 'failed' && !call.details

export const opensItself = (call: ToolEntry): boolean =>
  call.status === 'denied' || isFailedCommand(call) || (call.status === 'failed' && !isSlip(call))
