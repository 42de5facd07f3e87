/** What a conversation looks like: the entries that events fold into. */
import type {
  Answer,
  ApprovalRequest,
  CompactionEnd,
  CompactionTrigger,
  CommandResult,
  Details,
  Document,
  EndReason,
  Failure,
  FinishReason,
  HistoryRepaired,
  HookEnd,
  Media,
  Outcome,
  Outline,
  Phase,
  RateLimitReport,
  Repair,
  Retrying,
  Settings,
  Spending,
  State,
  TurnLimit,
  Usage,
  Warning,
} from '../types.gen'

/** The user's words. */
export type PromptEntry = {
  type: 'prompt'
  key: string
  seq: number
  text: string
  /** It came while a turn was running and began none. */
  steered?: boolean
  /** The full length in bytes where text was cut for display. */
  size?: number
}

/** The model's words; streaming until the message is whole. */
export type AnswerEntry = {
  type: 'answer'
  key: string
  text: string
  thinking: string
  /** Where they begin in the streamed text, because only its newest part is kept; 0 is the start. */
  textFrom: number
  thinkingFrom: number
  /** The full length in bytes where either was cut for display. */
  size?: number
  /** Where the message is in the log; absent while it streams. */
  seq?: number
  /** How long finished thinking took; absent if it was not measured. */
  thinkingMs?: number
  /** When the current thinking began. */
  thinkingSince?: number
  streaming: boolean
  finish?: FinishReason
}

/** How far a call has come; the last four are how it ended. */
export type CallStatus = 'drafting' | 'queued' | 'running' | 'waiting' | Outcome

export type ToolEntry = {
  type: 'tool'
  key: string
  callId: string
  tool: string
  /** Arguments as JSON, or the raw text where they are none. */
  input: string
  status: CallStatus
  output: string
  /** Where output begins, in UTF-16 units: what runs shows its tail only. */
  outputFrom: number
  startedAt: number
  /** Of arguments so far, while the model writes the call. */
  draftBytes?: number
  /** What the call will do to files, as far as it is written. */
  outline?: Outline
  durationMs?: number
  /** The event that has whole what was cut for display. */
  seq?: number
  /** The full length in bytes where output was cut. */
  size?: number
  /** What the model was shown besides, without its data. */
  media?: readonly Media[]
  details?: Details
  approval?: ApprovalRequest
  answer?: Answer
}

/** A command that the user ran themselves. */
export type CommandEntry = {
  type: 'command'
  key: string
  id: string
  command: string
  status: 'running' | Outcome
  output: string
  /** Where output begins, as for a call. */
  outputFrom: number
  startedAt: number
  durationMs?: number
  /** The event that has whole what was cut for display. */
  seq?: number
  /** The full length in bytes where output was cut. */
  size?: number
  /** Absent where it did not end by itself. */
  result?: CommandResult
}

export type NoticeEntry = { type: 'notice'; key: string } & (
  | ({ notice: 'warning' } & Warning)
  /** What Atelier told the agent by itself. */
  | { notice: 'nudge'; message: string }
  /** As many calls as were looked at were the same again and again. */
  | { notice: 'loop'; calls: number; message?: string }
  | ({ notice: 'repair'; repair: Repair } & HistoryRepaired)
  /** A compaction of the conversation; without an end it is still running. */
  | { notice: 'compaction'; trigger: CompactionTrigger; phase?: Phase; end?: CompactionEnd }
  /** The project's documents that the model was told before it began. */
  | { notice: 'documents'; documents: readonly Document[] }
  /** A hook that had something to say about what happens. */
  | ({ notice: 'hook' } & HookEnd)
  | ({ notice: 'limit' } & TurnLimit)
  | ({ notice: 'retry'; at: number } & Retrying)
  | { notice: 'error'; failure: Failure }
)

export type CompactionEntry = Extract<NoticeEntry, { notice: 'compaction' }>

/** The end of a turn, with what it took. */
export type TurnEntry = {
  type: 'turn'
  key: string
  reason: EndReason
  usage: Usage
  durationMs: number
  /** How many files its edits changed. */
  changed: number
  /** What the turn cost; undefined where that is nothing. */
  cost?: Spending
  provider?: string
  model?: string
}

export type Entry = PromptEntry | AnswerEntry | ToolEntry | CommandEntry | NoticeEntry | TurnEntry

/** A conversation as its events so far make it. */
export type View = {
  readonly entries: readonly Entry[]
  /** The last durable event that was applied. */
  readonly seq: number
  readonly state: State
  readonly pending: readonly ApprovalRequest[]
  readonly settings?: Settings
  readonly title?: string
  /** Tokens that the last request held; 0 where unknown. */
  readonly context: number
  /** What the session cost; undefined before its first request. */
  readonly cost?: Spending
  /** What the user may want to write next; undefined where nothing is suggested, or not any more. */
  readonly suggestion?: { readonly text: string; readonly seq: number }
  /** What the provider said last of the key's allowance; undefined where it said nothing. */
  readonly allowance?: RateLimitReport
  /** Streamed content is missing: the session has to be read again. */
  readonly torn: boolean
  readonly turnStartedAt: number
  /** Rounds of tools in the newest turn; undefined where its start was not read. */
  readonly rounds?: number
  readonly answeredBy?: { provider: string; model: string }
}

/** The model has said or done something: there is a conversation to look after. */
export const isAnswered = ({ entries }: View): boolean =>
  entries.some(
    (entry) =>
      (entry.type === 'answer' && !entry.streaming) ||
      (entry.type === 'tool' && entry.status !== 'drafting'),
  )

export const emptyView: View = {
  entries: [],
  seq: 0,
  state: 'idle',
  pending: [],
  context: 0,
  torn: false,
  turnStartedAt: 0,
}
