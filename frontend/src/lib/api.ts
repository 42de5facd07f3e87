/** The page's interface to the application, independent of how they are connected. */
import { t } from './i18n/i18n.svelte'
import type { Problem } from './i18n/problems'
import type { Desktop } from './desktop'
import type { Envelope, Methods } from './types.gen'

/** Why a page is not signed in: it never was, its link had been used before, or the server restarted. */
export type SignedOut = 'signed_out' | 'link_used' | 'restarted'
export type Status = 'connecting' | 'connected' | 'reconnecting' | 'unanswered' | SignedOut
/** The result of signing in with a pasted address. */
export type SignIn = 'accepted' | 'used' | 'invalid' | 'unanswered'

/** A failure in three sentences: what happened, what was kept, and what to do next. */
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

/** Calls a method of the application. A failure is thrown as an [ApiError]. */
export type Call = <M extends keyof Methods>(
  method: M,
  args: Methods[M]['args'],
) => Promise<Methods[M]['reply']>

export interface Api {
  call: Call
  readonly desktop: Desktop
  /** Starts the connection. Called once, before any call. */
  connect(onEnvelope: (envelope: Envelope) => void, onStatus: (status: Status) => void): void
  /** Opens a web address outside the application. The caller has checked that it is a web address. */
  openLink(url: string): Promise<void>
  /** Signs a browser page in with an address that Atelier printed. The desktop window never needs it. */
  signIn(address: string): Promise<SignIn>
}

/** Returns anything that was thrown as an [ApiError], for display. */
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
