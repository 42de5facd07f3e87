import type { Call } from '../api'
import type { Envelope } from '../types.gen'
import { Away } from './away.svelte'
import { Ledger } from './ledger.svelte'
import type { RuleForm } from './ruleForm.svelte'
import { Rules } from './rules.svelte'

/** What the user allowed, and what ran. */
export class Permissions {
  /** Which part of the panel is shown. */
  part = $state<'ran' | 'rules'>('ran')
  /** Whether somebody chose the part, or its first choice was made. */
  isPartChosen = false
  /** The rule that the user is writing. */
  draft = $state.raw<RuleForm>()
  readonly ledger: Ledger
  readonly rules: Rules
  readonly away: Away

  constructor(call: Call) {
    this.ledger = new Ledger(call)
    this.rules = new Rules(call)
    this.away = new Away(call)
  }

  receive(envelope: Envelope): void {
    this.ledger.receive(envelope)
    this.rules.receive(envelope)
  }
}
