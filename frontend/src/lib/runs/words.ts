import { titled } from '../i18n/i18n.svelte'
import { markHidden } from '../model/visible'
import type { Workbench } from '../state/workbench.svelte'
import type { Run } from '../types.gen'

/** What a run is called: its label, the name of its agent, or its title. */
export const nameOf = ({ session }: Run): string =>
  markHidden(
    session.marks?.label || session.helper?.name || session.helper?.label || titled(session.title),
  )

/** The model of a run. */
export const modelOf = ({ catalog }: Workbench, { session: { settings } }: Run): string =>
  catalog.model(settings.provider, settings.model)?.name || settings.model
