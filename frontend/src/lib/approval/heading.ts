/** Says in words which tool asks, and for what. */
import { formOf } from '../asked/forms'
import { t } from '../i18n/i18n.svelte'
import type { Facts } from '../model/approvals'
import { serverCall } from '../model/serverCall'
import { markHidden } from '../model/visible'
import type { ApprovalRequest } from '../types.gen'
import { own } from './messages'

/** The tool of a request; that of a server with its title. Older logs name it only by its id. */
export function toolWords({ tool, origin }: ApprovalRequest): string {
  return markHidden(origin?.title || origin?.tool || serverCall(tool)?.tool || tool)
}

/** The server whose tool asks; empty for a tool of Atelier. */
export const serverWords = ({ tool, origin }: ApprovalRequest): string =>
  markHidden(origin?.server ?? serverCall(tool)?.server ?? '')

/** The heading of a question. */
export function headingWords(request: ApprovalRequest, { asking }: Facts): string {
  const form = formOf(request.tool)
  if (form) return form.heading(request)
  const server = serverWords(request)
  if (isExternal(request)) return own('asks_external', { server })
  const tool = toolWords(request)
  if (server) return own('asks_server', { server, tool })
  return t(`approval.asks_${asking}`, { tool })
}

/** Whether an external agent asks to do something by itself. */
const isExternal = ({ tool, origin }: ApprovalRequest): boolean =>
  tool === 'ExternalPermission' && Boolean(origin)

/** What the server says that the tool does; it need not be true. */
export function hintWords(request: ApprovalRequest): string {
  const { origin } = request
  if (!origin) return ''
  if (isExternal(request)) return own('hint_external')
  if (origin.read_only) return own('hint_reads')
  return own(origin.destructive ? 'hint_destroys' : 'hint_changes')
}
