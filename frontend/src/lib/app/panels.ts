import Bot from '@lucide/svelte/icons/bot'
import CalendarClock from '@lucide/svelte/icons/calendar-clock'
import CircleDollarSign from '@lucide/svelte/icons/circle-dollar-sign'
import ClipboardList from '@lucide/svelte/icons/clipboard-list'
import FileDiff from '@lucide/svelte/icons/file-diff'
import FolderTree from '@lucide/svelte/icons/folder-tree'
import ChartGantt from '@lucide/svelte/icons/chart-gantt'
import Brain from '@lucide/svelte/icons/brain'
import Gauge from '@lucide/svelte/icons/gauge'
import GitBranch from '@lucide/svelte/icons/git-branch'
import MessageCircleQuestion from '@lucide/svelte/icons/message-circle-question-mark'
import GraduationCap from '@lucide/svelte/icons/graduation-cap'
import Plug from '@lucide/svelte/icons/plug'
import ShieldCheck from '@lucide/svelte/icons/shield-check'
import TerminalIcon from '@lucide/svelte/icons/terminal'
import SquareTerminal from '@lucide/svelte/icons/square-terminal'
import Webhook from '@lucide/svelte/icons/webhook'
import type { Component } from 'svelte'
import { t } from '../i18n/i18n.svelte'
import { isAtWork } from '../model/agents'
import { readRail } from '../model/rail'
import type { Workbench } from '../state/workbench.svelte'
import { Lazy } from '../ui/lazy.svelte'

/** What a panel's component may export. */
export type PanelView = {
  /** Goes to a part of the panel, which only the panel and its caller know. */
  show?(target: unknown): unknown
}

/** The messages that say what a number counts. */
type Counted = `counted_${'changes' | 'running' | 'agents' | 'waiting' | 'trust' | 'servers'}`

type PanelComponent = Component<{ bench: Workbench }, PanelView>

export type Panel = {
  /** Names the panel in the preferences. */
  name: string
  label: () => string
  /** What it shows, in a few words. */
  hint: () => string
  /** Panels of one kind stand together on the rail. */
  kind: 'work' | 'money' | 'rules' | 'extensions'
  icon: Component<{ size?: number; strokeWidth?: number }>
  view: Lazy<PanelComponent>
  /** What the number counts, and whether these things wait for the user. */
  counted?: { words: Counted; waits?: boolean }
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
    hint: () => t('panel.changes_hint'),
    kind: 'work',
    icon: FileDiff,
    view: lazy(() => import('../changes/ChangesPanel.svelte')),
    counted: { words: 'counted_changes' },
    count: ({ changes: { list, files } }) => files.length + (list?.more ?? 0),
  },
  {
    name: 'files',
    label: () => t('panel.files'),
    hint: () => t('panel.files_hint'),
    kind: 'work',
    icon: FolderTree,
    view: lazy(() => import('../files/FilesPanel.svelte')),
  },
  {
    name: 'branches',
    label: () => t('panel.branches'),
    hint: () => t('panel.branches_hint'),
    kind: 'work',
    icon: GitBranch,
    view: lazy(() => import('../branches/BranchesPanel.svelte')),
  },
  {
    name: 'running',
    label: () => t('panel.running'),
    hint: () => t('panel.running_hint'),
    kind: 'work',
    icon: SquareTerminal,
    view: lazy(() => import('../tasks/TasksPanel.svelte')),
    counted: { words: 'counted_running' },
    count: (bench) => bench.tasks.running(bench.family),
  },
  {
    name: 'plan',
    label: () => t('panel.plan'),
    hint: () => t('panel.plan_hint'),
    kind: 'work',
    icon: ClipboardList,
    view: lazy(() => import('../todos/PlanPanel.svelte')),
  },
  {
    name: 'agents',
    label: () => t('panel.agents'),
    hint: () => t('panel.agents_hint'),
    kind: 'work',
    icon: Bot,
    view: lazy(() => import('../agents/AgentsPanel.svelte')),
    counted: { words: 'counted_agents' },
    count: (bench) => bench.agents.of(bench.conversation?.id).filter(isAtWork).length,
  },
  {
    name: 'schedules',
    label: () => t('panel.schedules'),
    hint: () => t('panel.schedules_hint'),
    kind: 'work',
    icon: CalendarClock,
    view: lazy(() => import('../schedules/SchedulesPanel.svelte')),
  },
  {
    name: 'terminal',
    label: () => t('panel.terminal'),
    hint: () => t('panel.terminal_hint'),
    kind: 'work',
    icon: TerminalIcon,
    view: lazy(() => import('../terminal/TerminalPanel.svelte')),
  },
  {
    name: 'context',
    label: () => t('panel.context'),
    hint: () => t('panel.context_hint'),
    kind: 'money',
    icon: Gauge,
    view: lazy(() => import('../context/ContextPanel.svelte')),
  },
  {
    name: 'trace',
    label: () => t('panel.trace'),
    hint: () => t('panel.trace_hint'),
    kind: 'money',
    icon: ChartGantt,
    view: lazy(() => import('../trace/TracePanel.svelte')),
  },
  {
    name: 'cost',
    label: () => t('panel.cost'),
    hint: () => t('panel.cost_hint'),
    kind: 'money',
    icon: CircleDollarSign,
    view: lazy(() => import('../cost/CostPanel.svelte')),
  },
  {
    name: 'waiting',
    label: () => t('panel.waiting'),
    hint: () => t('panel.waiting_hint'),
    kind: 'rules',
    icon: MessageCircleQuestion,
    view: lazy(() => import('../waiting/WaitingPanel.svelte')),
    counted: { words: 'counted_waiting', waits: true },
    count: ({ approvals, servers }) => approvals.list.length + servers.questions.length,
  },
  {
    name: 'permissions',
    label: () => t('panel.permissions'),
    hint: () => t('panel.permissions_hint'),
    kind: 'rules',
    icon: ShieldCheck,
    view: lazy(() => import('../permissions/PermissionsPanel.svelte')),
    counted: { words: 'counted_trust', waits: true },
    count: ({ permissions: { rules } }) => rules.waiting,
  },
  {
    name: 'memory',
    label: () => t('panel.memory'),
    hint: () => t('panel.memory_hint'),
    kind: 'rules',
    icon: Brain,
    view: lazy(() => import('../memory/MemoryPanel.svelte')),
  },
  {
    name: 'hooks',
    label: () => t('panel.hooks'),
    hint: () => t('panel.hooks_hint'),
    kind: 'extensions',
    icon: Webhook,
    view: lazy(() => import('../hooks/HooksPanel.svelte')),
    counted: { words: 'counted_trust', waits: true },
    count: (bench) => bench.hooks.trust.waiting.filter(({ kind }) => kind === 'hook').length,
  },
  {
    name: 'mcp',
    label: () => t('panel.mcp'),
    hint: () => t('panel.mcp_hint'),
    kind: 'extensions',
    icon: Plug,
    view: lazy(() => import('../mcp/ServersPanel.svelte')),
    counted: { words: 'counted_servers', waits: true },
    count: ({ servers }) => servers.needing,
  },
  {
    name: 'skills',
    label: () => t('panel.skills'),
    hint: () => t('panel.skills_hint'),
    kind: 'extensions',
    icon: GraduationCap,
    view: lazy(() => import('../skills/SkillsPanel.svelte')),
    counted: { words: 'counted_trust', waits: true },
    count: (bench) => bench.hooks.trust.waiting.filter(({ kind }) => kind === 'skill').length,
  },
]

/** The panel of a name. The first one replaces a name that this version does not know. */
export const panelOf = (name: string | undefined): Panel =>
  panels.find((panel) => panel.name === name) ?? panels[0]!

/** The panels in the order that the user chose. */
export const arranged = (rail: string | undefined): { panel: Panel; hidden: boolean }[] =>
  readRail(
    panels.map(({ name }) => name),
    rail,
  ).map(({ name, hidden }) => ({ panel: panelOf(name), hidden }))
