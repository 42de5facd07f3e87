import CircleDollarSign from '@lucide/svelte/icons/circle-dollar-sign'
import FileDiff from '@lucide/svelte/icons/file-diff'
import FolderTree from '@lucide/svelte/icons/folder-tree'
import GitBranch from '@lucide/svelte/icons/git-branch'
import Inbox from '@lucide/svelte/icons/inbox'
import GraduationCap from '@lucide/svelte/icons/graduation-cap'
import Plug from '@lucide/svelte/icons/plug'
import ShieldCheck from '@lucide/svelte/icons/shield-check'
import SquareTerminal from '@lucide/svelte/icons/square-terminal'
import Webhook from '@lucide/svelte/icons/webhook'
import type { Component } from 'svelte'
import { own as branches } from '../branches/messages'
import { own as changes } from '../changes/messages'
import { own as files } from '../files/messages'
import { own as hooks } from '../hooks/messages'
import { t } from '../i18n/i18n.svelte'
import { own as mcp } from '../mcp/messages'
import { own as permissions } from '../permissions/messages'
import { own as skills } from '../skills/messages'
import { own as tasks } from '../tasks/messages'
import { own as waiting } from '../waiting/messages'
import type { Workbench } from '../state/workbench.svelte'
import { Lazy } from '../ui/lazy.svelte'

/** What a panel's component may export. */
export type PanelView = {
  /** Goes to a part of the panel, which only the panel and its caller know. */
  show?(target: unknown): unknown
}

type PanelComponent = Component<{ bench: Workbench }, PanelView>

export type Panel = {
  /** Names the panel in the preferences. */
  name: string
  label: () => string
  icon: Component<{ size?: number; strokeWidth?: number }>
  view: Lazy<PanelComponent>
  /** How many things in it are worth a number on its icon; 0 shows none. */
  count?: (bench: Workbench) => number
}

const lazy = (load: () => Promise<{ default: PanelComponent }>) =>
  new Lazy(() => load().then((module) => module.default))

/** The panels beside the conversation, in the order of the rail. A new panel is a line here; it is loaded when it is first needed. */
export const panels: readonly Panel[] = [
  {
    name: 'changes',
    label: () => changes('panel'),
    icon: FileDiff,
    view: lazy(() => import('../changes/ChangesPanel.svelte')),
    count: ({ changes: { list, files } }) => files.length + (list?.more ?? 0),
  },
  {
    name: 'files',
    label: () => files('panel'),
    icon: FolderTree,
    view: lazy(() => import('../files/FilesPanel.svelte')),
  },
  {
    name: 'branches',
    label: () => branches('panel'),
    icon: GitBranch,
    view: lazy(() => import('../branches/BranchesPanel.svelte')),
  },
  {
    name: 'cost',
    label: () => t('panel.cost'),
    icon: CircleDollarSign,
    view: lazy(() => import('../cost/CostPanel.svelte')),
  },
  {
    name: 'running',
    label: () => tasks('panel'),
    icon: SquareTerminal,
    view: lazy(() => import('../tasks/TasksPanel.svelte')),
    count: (bench) => bench.tasks.running(bench.family),
  },
  {
    name: 'permissions',
    label: () => permissions('panel'),
    icon: ShieldCheck,
    view: lazy(() => import('../permissions/PermissionsPanel.svelte')),
  },
  {
    name: 'hooks',
    label: () => hooks('panel'),
    icon: Webhook,
    view: lazy(() => import('../hooks/HooksPanel.svelte')),
    count: (bench) => bench.hooks.trust.waiting.filter(({ kind }) => kind === 'hook').length,
  },
  {
    name: 'mcp',
    label: () => mcp('panel'),
    icon: Plug,
    view: lazy(() => import('../mcp/ServersPanel.svelte')),
    count: ({ servers }) => servers.needing,
  },
  {
    name: 'skills',
    label: () => skills('panel'),
    icon: GraduationCap,
    view: lazy(() => import('../skills/SkillsPanel.svelte')),
    count: (bench) => bench.hooks.trust.waiting.filter(({ kind }) => kind === 'skill').length,
  },
  {
    name: 'waiting',
    label: () => waiting('panel'),
    icon: Inbox,
    view: lazy(() => import('../waiting/WaitingPanel.svelte')),
    count: ({ approvals }) => approvals.list.length,
  },
]

/** The panel of a name. The first one replaces a name that this version does not know. */
export const panelOf = (name: string | undefined): Panel =>
  panels.find((panel) => panel.name === name) ?? panels[0]!
