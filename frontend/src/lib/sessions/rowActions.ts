import FileOutput from '@lucide/svelte/icons/file-output'
import Archive from '@lucide/svelte/icons/archive'
import ArchiveRestore from '@lucide/svelte/icons/archive-restore'
import GitBranchPlus from '@lucide/svelte/icons/git-branch-plus'
import Pencil from '@lucide/svelte/icons/pencil'
import Pin from '@lucide/svelte/icons/pin'
import PinOff from '@lucide/svelte/icons/pin-off'
import Radio from '@lucide/svelte/icons/radio'
import Tag from '@lucide/svelte/icons/tag'
import Trash from '@lucide/svelte/icons/trash-2'
import Undo from '@lucide/svelte/icons/undo-2'
import { t } from '../i18n/i18n.svelte'
import type { Workbench } from '../state/workbench.svelte'
import type { MarkRequest, SessionInfo } from '../types.gen'
import type { MenuItem } from '../ui/menu'
import { own } from './messages'

/** What the user is asked about before something is done with a session. */
export type Asked = 'rename' | 'tags' | 'export' | 'share' | 'delete' | 'remove'

/** What the actions act on. */
export type RowHost = {
  bench: Workbench
  ask: (what: Asked, session: SessionInfo) => void
}

/** Something that can be done with a session in the list. */
type RowAction = Pick<MenuItem, 'icon' | 'danger'> & {
  label: () => string
  /** The key that does it while the row has the focus. */
  key?: string
  isFor: (session: SessionInfo) => boolean
  run: (host: RowHost, session: SessionInfo) => void
}

const isDeleted = ({ marks }: SessionInfo) => Boolean(marks?.deleted)
/** Whether it is the user's own session, and not deleted. */
const isOwn = (session: SessionInfo) => !session.helper && !isDeleted(session)

const ask = (what: Asked) => (host: RowHost, session: SessionInfo) => host.ask(what, session)
const mark =
  (change: Omit<MarkRequest, 'session'>) =>
  ({ bench }: RowHost, { id }: SessionInfo) =>
    void bench.attempt(() => bench.sessions.mark(id, change))

/** The actions in the order of the menu. A new action is a line here. */
const actions: readonly RowAction[] = [
  {
    label: () => t('session.rename'),
    icon: Pencil,
    key: 'F2',
    isFor: (it) => !isDeleted(it),
    run: ask('rename'),
  },
  {
    label: () => own('fork_this'),
    icon: GitBranchPlus,
    isFor: (it) => !isDeleted(it),
    run: ({ bench }, { id }) => bench.branches.ask({ session: id }),
  },
  { label: () => own('tags'), icon: Tag, isFor: isOwn, run: ask('tags') },
  {
    label: () => own('export'),
    icon: FileOutput,
    isFor: (it) => !isDeleted(it),
    run: ask('export'),
  },
  { label: () => own('share'), icon: Radio, isFor: isOwn, run: ask('share') },
  {
    label: () => own('pin'),
    icon: Pin,
    isFor: (it) => isOwn(it) && !it.marks?.pinned,
    run: mark({ pinned: true }),
  },
  {
    label: () => own('unpin'),
    icon: PinOff,
    isFor: (it) => isOwn(it) && Boolean(it.marks?.pinned),
    run: mark({ pinned: false }),
  },
  {
    label: () => own('archive'),
    icon: Archive,
    isFor: (it) => isOwn(it) && !it.marks?.archived,
    run: mark({ archived: true }),
  },
  {
    label: () => own('unarchive'),
    icon: ArchiveRestore,
    isFor: (it) => isOwn(it) && Boolean(it.marks?.archived),
    run: mark({ archived: false }),
  },
  {
    label: () => t('session.delete'),
    icon: Trash,
    danger: true,
    key: 'Delete',
    isFor: isOwn,
    run: ask('delete'),
  },
  { label: () => own('restore'), icon: Undo, isFor: isDeleted, run: mark({ deleted: false }) },
  {
    label: () => own('remove'),
    icon: Trash,
    danger: true,
    key: 'Delete',
    isFor: (it) => isDeleted(it) || it.helper !== undefined,
    run: ask('remove'),
  },
]

/** The menu of a row. The keys of its items work while the row has the focus. */
export const menuOf = (session: SessionInfo, host: RowHost): MenuItem[] =>
  actions
    .filter(({ isFor }) => isFor(session))
    .map(({ label, icon, danger, key, run }) => ({
      label: label(),
      icon,
      ...(danger && { danger }),
      ...(key && { keys: key }),
      onselect: () => run(host, session),
    }))
