import { newestTurn, promptOf } from '../model/rewound'
import type { LocalCommand } from '../state/commands.svelte'
import type { Workbench } from '../state/workbench.svelte'
import type { Command } from '../ui/shortcuts'
import type { UndoQuestion } from '../state/undo.svelte'
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
export const localCommands = ({
  bench,
  press,
  show,
  context,
}: CommandHost): readonly LocalCommand[] => [
  { name: 'help', about: () => own('slash_help'), run: () => press('help') },
  { name: 'sessions', about: () => own('slash_sessions'), run: () => press('filter') },
  { name: 'new', about: () => own('slash_new'), run: () => press('new') },
  { name: 'clear', about: () => own('slash_clear'), run: () => press('new') },
  { name: 'usage', about: () => own('slash_usage'), run: () => show('cost') },
  { name: 'context', about: () => own('slash_context'), run: context },
  { name: 'model', about: () => own('slash_model'), run: () => press('model') },
  { name: 'undo', about: () => own('slash_undo'), run: () => ask(bench, { target: {} }) },
  {
    name: 'redo',
    about: () => own('slash_redo'),
    run: () => ask(bench, { target: { redo: true } }),
  },
  { name: 'rewind', about: () => own('slash_rewind'), run: () => rewind(bench) },
  ...exit(bench),
]

/** Closes the window. A page in a browser cannot do that, and does not offer it. */
function exit({ desktop }: Workbench): LocalCommand[] {
  if (!desktop.quit) return []
  return [{ name: 'exit', about: () => own('slash_exit'), run: () => desktop.quit?.() }]
}

/** Asks whether something of the open session is undone. Without one, there is nothing to undo. */
function ask({ undo, conversation }: Workbench, question: Omit<UndoQuestion, 'session'>): boolean {
  void undo.ask({ session: conversation?.id ?? '', ...question })
  return true
}

/** Asks whether the newest turn that was not taken back is taken back. If the page does not know which one that is, the host does. */
function rewind(bench: Workbench): boolean {
  const { view, info } = bench.conversation ?? {}
  const entries = view?.entries ?? []
  const turn = newestTurn(entries, info?.rewound)
  const message = promptOf(entries, turn)
  return ask(bench, { target: turn ? { since: turn } : { newest: true }, rewind: turn, message })
}
