/** The typed calls to the application and the stream of what happens in it. */
import { createTransport, type SignIn, type Status } from './transport'
import { t } from './i18n/i18n.svelte'
import type { Problem } from './i18n/problems'
import type { Envelope, Methods } from './types.gen'

export type { SignedOut, SignIn, Status } from './transport'

/** A failure in three sentences: what happened, what was kept, what to do next. */
export class ApiError extends Error {
  readonly id?: string
  readonly args?: readonly string[]
  readonly code?: string
  readonly kept?: string
  readonly next?: string
  readonly details?: string

  constructor(error: Problem) {
    super(error.message)
    this.id = error.id
    this.args = error.args
    this.code = error.code
    this.kept = error.kept
    this.next = error.next
    this.details = error.details
  }
}

export type Call = <M extends keyof Methods>(
  method: M,
  args: Methods[M]['args'],
) => Promise<Methods[M]['reply']>

const transport = createTransport()

export const call: Call = async (method, args) => {
  const reply = await transport.call(method, args)
  if ('error' in reply) throw new ApiError(reply.error)
  return reply.ok as Methods[typeof method]['reply']
}

/** Shows a web address outside the application. */
export async function openLink(url: string): Promise<void> {
  const reply = await transport.openLink(url)
  if ('error' in reply) throw new ApiError(reply.error)
}

/** Signs the page in with an address that Atelier has printed. */
export const signIn = (address: string): Promise<SignIn> => transport.signIn(address)

/** Starts the connection. Called once, before any call. */
export function connect(
  onEnvelope: (envelope: Envelope) => void,
  onStatus: (status: Status) => void,
): void {
  transport.onEnvelope = onEnvelope
  transport.onStatus = onStatus
  transport.start()
}

/** What was thrown as an [ApiError], for display. */
export function asApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  return new ApiError({
    code: 'internal',
    message: t('app.failed'),
    kept: t('app.failed_kept'),
    next: t('app.failed_next'),
    details: String(thrown),
  })
}
