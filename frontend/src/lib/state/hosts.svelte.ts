import type { Contact } from '../types.gen'
import { Resource } from './resource.svelte'

/** The hosts that were contacted from this machine, for all projects. */
export class Hosts extends Resource {
  /** The newest first. */
  rows = $state.raw<readonly Contact[]>([])
  /** Whether none but this machine may be contacted. */
  offline = $state(false)

  readonly load = this.reading(
    () => this.call('hosts.list', {}),
    ({ hosts = [], offline = false }) => {
      this.rows = hosts
      this.offline = offline
    },
  )
}
