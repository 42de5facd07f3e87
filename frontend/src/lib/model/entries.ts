/** The entries of a conversation, which the reducer makes of events. */
import type {
  Answer,
  ApprovalRequest,
  Authority,
  CompactionEnd,
  CompactionTrigger,
  CommandResult,
  Details,
  Document,
  EndReason,
  Failure,
  FilesRestored,
  FinishReason,
  HistoryRepaired,
  HookEnd,
  Media,
  Outcome,
  DraftedChanges,
  Phase,
  RateLimitReport,
  Repair,
  Retrying,
  Settings,
  SkillUse,
  Spending,
  State,
  TurnLimit,
  Usage,
  Warning,
} from '../types.gen'
import type { RunningHook } from './runningHooks'

/** A message from the user. */
export type PromptEntry = {
  type: 'prompt'
  key: string
  seq: number
  /** The number of its turn. */
  turn?: number
  /** What was sent. */
  text: string
  /** What the user typed, if the text was made of it. */
  typed?: string
  /** The skill that began with it. */
  skill?: SkillUse
  /** It was sent while a turn was running and did not begin a new turn. */
  steered?: boolean
  /** The agent that wrote it; undefined if a person did. */
  from?: string
  /** A hook refused it, so the model was not sent it. */
  refused?: boolean
  /** The full length in bytes, if the text was cut for display. */
  size?: number
  /** The pictures that went with it, without their data. */
  media?: readonly Media[]
}

/** What the user wrote. */
export const wrote = ({ typed, text }: Pick<PromptEntry, 'typed' | 'text'>): string => typed ?? text

/** A message from the model. It is streaming until the message is complete. */
export type AnswerEntry = {
  type: 'answer'
  key: string
  text: string
  thinking: string
  /** Where the texts begin in what was streamed, of which only the newest part is kept; 0 is the start. */
  textFrom: number
  thinkingFrom: number
  /** The full length in bytes, if either text was cut for display. */
  size?: number
  /** The message's event in the log; absent while it streams. */
  seq?: number
  /** How long the thinking took that is over; absent if it was not measured. */
  thinkingMs?: number
  /** When the current thinking began. */
  thinkingSince?: number
  streaming: boolean
  finish?: FinishReason
  /** The tokens in the context after it, if they are known. */
  held?: number
}

/** The status of a call. An outcome means that it has ended. */
export type CallStatus = 'drafting' | 'queued' | 'running' | 'waiting' | Outcome

export type ToolEntry = {
  type: 'tool'
  key: string
  callId: string
  tool: string
  /** The arguments as JSON, or the raw text if they are not JSON. */
  input: string
  status: CallStatus
  output: string
  /** Where the kept output begins, in UTF-16 units: only the end of live output is kept. */
  outputFrom: number
  startedAt: number
  /** The bytes of arguments so far, while the model writes the call. */
  draftBytes?: number
  /** The file changes that the call asks for, as far as it is written. */
  outline?: DraftedChanges
  durationMs?: number
  /** The event that holds the complete output. */
  seq?: number
  /** The full length in bytes, if the output was cut for display. */
  size?: number
  /** Pictures and other media that the model was shown, without their data. */
  media?: readonly Media[]
  details?: Details
  approval?: ApprovalRequest
  answer?: Answer
  /** The files that the call changed, as the log records it; undefined if there are none. */
  files?: readonly string[]
  /** What decided about the call; absent before that, and in older logs. */
  authority?: Authority
  /** The hooks that failed, decided, changed or said something about the call. */
  hooks?: readonly HookEnd[]
}

/** A command that the user ran. */
export type CommandEntry = {
  type: 'command'
  key: string
  id: string
  command: string
  status: 'running' | Outcome
  output: string
  /** Where the kept output begins, as in a call. */
  outputFrom: number
  startedAt: number
  durationMs?: number
  /** The event that holds the complete output. */
  seq?: number
  /** The full length in bytes, if the output was cut for display. */
  size?: number
  /** The files that the command changed, as the log records it; undefined if there are none. */
  files?: readonly string[]
  /** Absent if the command was stopped. */
  result?: CommandResult
}

export type NoticeEntry = { type: 'notice'; key: string } & (
  | ({ notice: 'warning' } & Warning)
  /** A message from Atelier to the agent that the user did not write. */
  | { notice: 'nudge'; message: string }
  /** The given number of calls repeat the same pattern. */
  | { notice: 'loop'; calls: number; message?: string }
  | ({ notice: 'repair'; repair: Repair } & HistoryRepaired)
  /** Another model answers from here on. */
  | { notice: 'model'; provider: string; model: string }
  /** A compaction of the conversation. Without an end it is still running. */
  | {
      notice: 'compaction'
      trigger: CompactionTrigger
      phase?: Phase
      end?: CompactionEnd
      /** Whether it stands for one that the user took back. */
      undone?: boolean
    }
  /** The project's instruction files that were sent to the model. */
  | { notice: 'documents'; documents: readonly Document[] }
  /** A hook that failed, decided or said something, outside of calls. */
  | { notice: 'hook'; hook: HookEnd; note?: string }
  | ({ notice: 'limit' } & TurnLimit)
  | ({ notice: 'retry'; at: number } & Retrying)
  | { notice: 'error'; failure: Failure }
  /** Steps were undone or redone in files. */
  | { notice: 'restored'; restored: FilesRestored }
  /** Turns before it were taken back. */
  | { notice: 'rewound'; id: string; turns: number }
)

export type CompactionEntry = Extract<NoticeEntry, { notice: 'compaction' }>

/** The end of a turn, with its duration, usage and cost. */
export type TurnEntry = {
  type: 'turn'
  key: string
  /** Its number. */
  turn?: number
  reason: EndReason
  usage: Usage
  /** 0 while the start of the turn has not been read. */
  durationMs: number
  /** How many files the turn changed. */
  changed: number
  /** What the turn cost; undefined if it made no request. */
  cost?: Spending
  provider?: string
  model?: string
}

export type Entry = PromptEntry | AnswerEntry | ToolEntry | CommandEntry | NoticeEntry | TurnEntry

/** A conversation as of its last event. */
export type View = {
  readonly entries: readonly Entry[]
  /** The last durable event that was applied. */
  readonly seq: number
  readonly state: State
  readonly pending: readonly ApprovalRequest[]
  /** The hooks that run now; undefined if none do. */
  readonly hooks?: readonly RunningHook[]
  readonly settings?: Settings
  readonly title?: string
  /** The tokens in the context after the last request; 0 if unknown. */
  readonly context: number
  /** What the session cost; undefined before its first request. */
  readonly cost?: Spending
  /** A suggestion for the user's next message; undefined if there is none. */
  readonly suggestion?: { readonly text: string; readonly seq: number }
  /** What the provider last reported about the key's allowance; undefined if it reported nothing. */
  readonly allowance?: RateLimitReport
  /** Streamed content was missed: the session has to be read again. */
  readonly torn: boolean
  /** When the turn began, later by as long as it waited for the user; 0 if none runs. */
  readonly turnStartedAt: number
  /** Since when it waits for the user; 0 if it does not. */
  readonly askedAt: number
  /** Rounds of tool calls in the newest turn; undefined if its start was not read. */
  readonly rounds?: number
  readonly answeredBy?: { provider: string; model: string }
}

export type RewoundEntry = Extract<NoticeEntry, { notice: 'rewound' }>

export const isRewound = (entry: Entry): entry is RewoundEntry =>
  entry.type === 'notice' && entry.notice === 'rewound'

/** The tokens in the context of what is left of a conversation, as its last answer reported them; 0 if unknown. */
export const heldIn = (entries: readonly Entry[]): number =>
  entries
    .flatMap((entry) => (entry.type === 'answer' && entry.held !== undefined ? [entry.held] : []))
    .at(-1) ?? 0

/** Whether the model has said or done anything yet. */
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
  askedAt: 0,
}
