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
import { t } from '../i18n/i18n.svelte'
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
    label: () => t('panel.changes'),
    icon: FileDiff,
    view: lazy(() => import('../changes/ChangesPanel.svelte')),
    count: ({ changes: { list, files } }) => files.length + (list?.more ?? 0),
  },
  {
    name: 'files',
    label: () => t('panel.files'),
    icon: FolderTree,
    view: lazy(() => import('../files/FilesPanel.svelte')),
  },
  {
    name: 'branches',
    label: () => t('panel.branches'),
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
    label: () => t('panel.running'),
    icon: SquareTerminal,
    view: lazy(() => import('../tasks/TasksPanel.svelte')),
    count: (bench) => bench.tasks.running(bench.family),
  },
  {
    name: 'permissions',
    label: () => t('panel.permissions'),
    icon: ShieldCheck,
    view: lazy(() => import('../permissions/PermissionsPanel.svelte')),
    count: ({ permissions: { rules } }) => rules.waiting,
  },
  {
    name: 'hooks',
    label: () => t('panel.hooks'),
    icon: Webhook,
    view: lazy(() => import('../hooks/HooksPanel.svelte')),
    count: (bench) => bench.hooks.trust.waiting.filter(({ kind }) => kind === 'hook').length,
  },
  {
    name: 'mcp',
    label: () => t('panel.mcp'),
    icon: Plug,
    view: lazy(() => import('../mcp/ServersPanel.svelte')),
    count: ({ servers }) => servers.needing,
  },
  {
    name: 'skills',
    label: () => t('panel.skills'),
    icon: GraduationCap,
    view: lazy(() => import('../skills/SkillsPanel.svelte')),
    count: (bench) => bench.hooks.trust.waiting.filter(({ kind }) => kind === 'skill').length,
  },
  {
    name: 'waiting',
    label: () => t('panel.waiting'),
    icon: Inbox,
    view: lazy(() => import('../waiting/WaitingPanel.svelte')),
    count: ({ approvals }) => approvals.list.length,
  },
]

/** The panel of a name. The first one replaces a name that this version does not know. */
export const panelOf = (name: string | undefined): Panel =>
  panels.find((panel) => panel.name === name) ?? panels[0]!
