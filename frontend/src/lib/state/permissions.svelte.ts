import type { Call } from '../api'
import type { Envelope } from '../types.gen'
import { Away } from './away.svelte'
import { Ledger } from './ledger.svelte'

/** What the user allowed, and what ran. */
export class Permissions {
  readonly ledger: Ledger
  readonly away: Away

  constructor(call: Call) {
    this.ledger = new Ledger(call)
    this.away = new Away(call)
  }

  receive(envelope: Envelope): void {
    this.ledger.receive(envelope)
  }
}
