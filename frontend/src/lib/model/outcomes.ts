/** Which cards unfold automatically: those of commands that failed, not of mistakes that the agent corrects itself. */
import type { ToolEntry } from './entries'

/** Whether a command ended with an exit code other than 0 and was not stopped. */
export const isFailedCommand = ({ details, status }: ToolEntry): boolean =>
  status !== 'interrupted' && details?.command !== undefined && details.command.exit_code !== 0

/**
 * Whether a call failed before it did anything, for example because of wrong arguments.
 * The agent is told and tries again. The user does not have to act.
 */
export const isSlip = (call: ToolEntry): boolean => call.status === 'failed' && !call.details

export const opensItself = (call: ToolEntry): boolean =>
  call.status === 'denied' || isFailedCommand(call) || (call.status === 'failed' && !isSlip(call))
