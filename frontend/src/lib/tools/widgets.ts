/** The icon and the body of each tool's card. */
import type { Component } from 'svelte'
import ClipboardList from '@lucide/svelte/icons/clipboard-list'
import Braces from '@lucide/svelte/icons/braces'
import CalendarClock from '@lucide/svelte/icons/calendar-clock'
import Bot from '@lucide/svelte/icons/bot'
import FileDiff from '@lucide/svelte/icons/file-diff'
import FilePen from '@lucide/svelte/icons/file-pen-line'
import FilePlus from '@lucide/svelte/icons/file-plus-2'
import FileText from '@lucide/svelte/icons/file-text'
import FolderGit from '@lucide/svelte/icons/folder-git-2'
import FolderSearch from '@lucide/svelte/icons/folder-search'
import AppWindow from '@lucide/svelte/icons/app-window'
import Globe from '@lucide/svelte/icons/globe'
import GraduationCap from '@lucide/svelte/icons/graduation-cap'
import Eye from '@lucide/svelte/icons/eye'
import Hourglass from '@lucide/svelte/icons/hourglass'
import ListTodo from '@lucide/svelte/icons/list-todo'
import MessageCircleQuestion from '@lucide/svelte/icons/message-circle-question-mark'
import MessageSquare from '@lucide/svelte/icons/message-square'
import NotebookPen from '@lucide/svelte/icons/notebook-pen'
import OctagonX from '@lucide/svelte/icons/octagon-x'
import Plug from '@lucide/svelte/icons/plug'
import Search from '@lucide/svelte/icons/search'
import SearchCheck from '@lucide/svelte/icons/search-check'
import Settings from '@lucide/svelte/icons/settings'
import SquareTerminal from '@lucide/svelte/icons/square-terminal'
import Wrench from '@lucide/svelte/icons/wrench'
import { progressOf, todosOf } from '../model/todos'
import { isAnswered, repliesOf } from '../model/question'
import { browserCardOf, fetchCardOf, searchCardOf } from '../model/web'
import { bytes } from '../model/format'
import AskBody from './AskBody.svelte'
import PlanBody from './PlanBody.svelte'
import TodoBody from './TodoBody.svelte'
import ReportBody from './ReportBody.svelte'
import { serverCall } from '../model/serverCall'
import type { ToolEntry } from '../model/entries'
import { own } from './messages'
import BrowserBody from './BrowserBody.svelte'
import ChangeBody from './ChangeBody.svelte'
import FetchBody from './FetchBody.svelte'
import GenericBody from './GenericBody.svelte'
import ScheduleBody from './ScheduleBody.svelte'
import SearchBody from './SearchBody.svelte'
import ServerBody from './ServerBody.svelte'
import SkillBody from './SkillBody.svelte'
import TerminalBody from './TerminalBody.svelte'
import TextBody from './TextBody.svelte'

type Widget = {
  icon: Component<{ size?: number; strokeWidth?: number }>
  body: Component<{ call: ToolEntry }>
  /** Whether the body, or the conversation that replaces it, scrolls itself. */
  scrolls?: true
  /** The body is wider than prose where there is room. */
  wide?: true
  /** The user's answer is the result: nothing needs to be said of who allowed the call. */
  answered?: true
  /** What is said of a call to which the user said no. */
  declined?: () => string
  /** The result of a call that is done, in a few words. */
  result?: (call: ToolEntry) => string
}

/** What the user answered, in one line. */
const answers = ({ answer }: ToolEntry) =>
  repliesOf(answer?.reply ?? '')
    .filter(isAnswered)
    .map(({ chosen, text }) => [...chosen, text].filter(Boolean).join(', '))
    .join(' · ')
    .slice(0, 80)

const progress = ({ details }: ToolEntry) => {
  const { done, of } = progressOf(todosOf(details?.kept?.state))
  return of > 0 ? `${done}/${of}` : ''
}

/** How a page answered, in a few words. */
function fetched({ details }: ToolEntry): string {
  const card = fetchCardOf(details?.card)
  if (!card) return ''
  return card.redirect ? own('page_elsewhere') : bytes(card.bytes)
}

/** What the browser shows, or how many errors the page had. */
function browsed({ details }: ToolEntry): string {
  const card = browserCardOf(details?.card)
  if (!card) return ''
  return card.trouble.length > 0 ? own('page_errors', { n: card.trouble.length }) : card.title
}

/** How many pages a search found. */
const hits = ({ details }: ToolEntry) => {
  const card = searchCardOf(details?.card)
  return card ? own('search_hits', { n: card.hits.length }) : ''
}

const widgets: Record<string, Widget> = {
  Read: { icon: FileText, body: TextBody },
  Write: { icon: FilePlus, body: ChangeBody, wide: true },
  Edit: { icon: FilePen, body: ChangeBody, wide: true },
  MultiEdit: { icon: FilePen, body: ChangeBody, wide: true },
  NotebookEdit: { icon: NotebookPen, body: ChangeBody, wide: true },
  ApplyPatch: { icon: FileDiff, body: ChangeBody, wide: true },
  Bash: { icon: SquareTerminal, body: TerminalBody },
  Monitor: { icon: Eye, body: TerminalBody },
  Grep: { icon: Search, body: TextBody },
  Glob: { icon: FolderSearch, body: TextBody },
  WebSearch: { icon: SearchCheck, body: SearchBody, result: hits },
  Browser: { icon: AppWindow, body: BrowserBody, result: browsed },
  WebFetch: { icon: Globe, body: FetchBody, result: fetched },
  Agent: { icon: Bot, body: ReportBody, scrolls: true },
  LSP: { icon: Braces, body: TextBody },
  RenameSymbol: { icon: Braces, body: ChangeBody, wide: true },
  SpawnAgent: { icon: Bot, body: TextBody, scrolls: true },
  SendInput: { icon: MessageSquare, body: ReportBody },
  Wait: { icon: Hourglass, body: ReportBody },
  Skill: { icon: GraduationCap, body: SkillBody },
  AskUser: {
    icon: MessageCircleQuestion,
    body: AskBody,
    answered: true,
    result: answers,
    declined: () => own('not_answered'),
  },
  TodoWrite: { icon: ListTodo, body: TodoBody, result: progress },
  EnterPlanMode: {
    icon: ClipboardList,
    body: TextBody,
    answered: true,
    declined: () => own('no_plan'),
  },
  ExitPlanMode: {
    icon: ClipboardList,
    body: PlanBody,
    answered: true,
    declined: () => own('sent_back'),
  },
  EnterWorktree: {
    icon: FolderGit,
    body: TextBody,
    result: ({ details }) => details?.worktree ?? '',
  },
  ExitWorktree: { icon: FolderGit, body: TextBody },
  CronCreate: { icon: CalendarClock, body: ScheduleBody },
  CronList: { icon: CalendarClock, body: TextBody },
  CronDelete: { icon: CalendarClock, body: TextBody },
  RemoteTrigger: { icon: CalendarClock, body: ScheduleBody },
  ScheduleWakeup: { icon: CalendarClock, body: ScheduleBody },
  Config: { icon: Settings, body: TextBody },
  CloseAgent: { icon: OctagonX, body: ReportBody },
}

const generic: Widget = { icon: Wrench, body: GenericBody }

const ofServer: Widget = { icon: Plug, body: ServerBody }

export function widgetOf(tool: string): Widget {
  if (Object.hasOwn(widgets, tool)) return widgets[tool]!
  return serverCall(tool) ? ofServer : generic
}
