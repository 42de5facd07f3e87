import { t } from '../i18n/i18n.svelte'
import { newestTurn, promptOf } from '../model/rewound'
import type { LocalCommand } from '../state/commands.svelte'
import { draftOwner, writeDraft } from '../state/drafts.svelte'
import type { Workbench } from '../state/workbench.svelte'
import type { Command } from '../model/keymap'
import type { UndoQuestion } from '../state/undo.svelte'
import { own } from './messages'

/** What the page's own commands act on. */
export type CommandHost = {
  bench: Workbench
  /** Does what a shortcut of the window does. */
  press: (command: Command) => void
  /** Opens a panel. */
  show: (panel: string) => unknown
  /** Opens the dialog about the context, which also compacts. */
  context: () => void
  /** Opens the dialog that exports the open session. */
  save: () => void
}

/** The commands that the page runs itself, in the order of the menu. A new command is a line here. */
export const localCommands = ({
  bench,
  press,
  show,
  context,
  save,
}: CommandHost): readonly LocalCommand[] => [
  { name: 'help', aliases: ['keys'], about: () => own('slash_help'), run: () => press('help') },
  {
    name: 'sessions',
    aliases: ['session', 'resume', 'continue'],
    about: () => own('slash_sessions'),
    run: () => press('filter'),
  },
  { name: 'new', about: () => own('slash_new'), run: () => press('new') },
  { name: 'clear', aliases: ['reset'], about: () => own('slash_clear'), run: () => press('new') },
  {
    name: 'usage',
    aliases: ['cost', 'stats', 'status'],
    about: () => own('slash_usage'),
    run: () => show('cost'),
  },
  { name: 'context', about: () => own('slash_context'), run: context },
  {
    name: 'compact',
    aliases: ['compress', 'summarize'],
    about: () => own('slash_compact'),
    takes: true,
    needsSession: true,
    yields: true,
    run: (focus) => (focus ? bench.conversation?.compact(focus) : context()),
  },
  {
    name: 'btw',
    aliases: ['side', 'aside'],
    about: () => own('slash_btw'),
    takes: true,
    needsSession: true,
    run: (question) => bench.aside.begin(bench.conversation?.id ?? '', question),
  },
  {
    name: 'model',
    aliases: ['models'],
    about: () => own('slash_model'),
    run: () => press('model'),
  },
  {
    name: 'remember',
    aliases: ['memo', 'note'],
    about: () => own('slash_remember'),
    takes: true,
    yields: true,
    run: (note) => bench.memo.begin(note),
  },
  { name: 'history', about: () => own('slash_history'), yields: true, run: () => press('history') },
  { name: 'undo', about: () => own('slash_undo'), run: () => ask(bench, { target: {} }) },
  {
    name: 'redo',
    about: () => own('slash_redo'),
    run: () => ask(bench, { target: { redo: true } }),
  },
  { name: 'rewind', about: () => own('slash_rewind'), run: () => rewind(bench) },
  {
    name: 'fork',
    aliases: ['branch'],
    about: () => own('slash_fork'),
    needsSession: true,
    yields: true,
    run: () => bench.branches.ask({ session: bench.conversation?.id ?? '' }),
  },
  {
    name: 'projects',
    aliases: ['agents-view', 'work'],
    about: () => own('slash_projects'),
    yields: true,
    run: () => bench.work.open(),
  },
  {
    name: 'race',
    aliases: ['best-of-n'],
    about: () => own('slash_race'),
    takes: true,
    yields: true,
    run: (prompt) => bench.runs.ask(prompt),
  },
  {
    name: 'runs',
    aliases: ['worktrees'],
    about: () => own('slash_runs'),
    needsSession: true,
    yields: true,
    run: () => bench.runs.open(bench.conversation?.id ?? ''),
  },
  {
    name: 'export',
    aliases: ['share'],
    about: () => own('slash_export'),
    needsSession: true,
    yields: true,
    run: save,
  },
  {
    name: 'init',
    about: () => own('slash_init'),
    yields: true,
    run: () => (write(bench, own('init_prompt')), false),
  },
  {
    name: 'settings',
    aliases: ['config', 'theme', 'login', 'logout', 'connect'],
    about: () => t('sidebar.settings'),
    yields: true,
    run: () => press('settings'),
  },
  { name: 'search', about: () => t('sidebar.search'), yields: true, run: () => press('search') },
  ...panelWords.map(([name, ...aliases]) => ({
    name,
    aliases,
    about: () => t(`panel.${name}`),
    yields: true,
    run: () => show(name),
  })),
  ...exit(bench),
]

/** The panels that have a command, with what other programs call it. */
const panelWords = [
  ['permissions', 'allowed-tools', 'approvals'],
  ['mcp'],
  ['hooks'],
  ['skills', 'commands'],
  ['changes', 'diff'],
  ['running', 'tasks', 'bashes', 'ps'],
] as const

/** Puts a prompt into the message field, where the user can change it before it is sent. */
function write({ conversation, project }: Workbench, prompt: string): void {
  writeDraft(conversation ? draftOwner(conversation.id) : (project?.folder ?? ''), prompt)
}

/** Closes the window. A page in a browser cannot do that, and does not offer it. */
function exit({ desktop }: Workbench): LocalCommand[] {
  if (!desktop.quit) return []
  return [
    {
      name: 'exit',
      aliases: ['quit'],
      about: () => own('slash_exit'),
      run: () => desktop.quit?.(),
    },
  ]
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
