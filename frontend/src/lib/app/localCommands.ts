import type { LocalCommand } from '../state/commands.svelte'
import type { Workbench } from '../state/workbench.svelte'
import type { Command } from '../ui/shortcuts'
import { own } from './messages'

/** What the page's own commands act on. */
export type CommandHost = {
  bench: Workbench
  /** Does what a shortcut of the window does. */
  press: (command: Command) => void
  /** Opens a panel. */
  show: (panel: string) => unknown
  /** Opens the dialog about the context. */
  context: () => void
}

/** The commands that the page runs itself, in the order of the menu. A new command is a line here. */
export const localCommands = ({ press, show, context }: CommandHost): readonly LocalCommand[] => [
  { name: 'help', about: () => own('slash_help'), run: () => press('help') },
  { name: 'sessions', about: () => own('slash_sessions'), run: () => press('filter') },
  { name: 'new', about: () => own('slash_new'), run: () => press('new') },
  { name: 'usage', about: () => own('slash_usage'), run: () => show('cost') },
  { name: 'context', about: () => own('slash_context'), run: context },
  { name: 'model', about: () => own('slash_model'), run: () => press('model') },
]
