// Written from the Go types by `make gen`. Do not edit.
/* eslint-disable */

export type Ability = "reasoning" | "images" | "pdf" | "tools" | "structured_output"

export type Absence = {
  from: number
  to: number
  session: string
  commands?: number
  edits?: number
  others?: number
  by?: AllowedBy[]
  outside?: string[]
  more?: number
  at_least?: boolean
  cost?: Spending
}

export type AcceptRequest = {
  path: string
  seal: string
}

export type Access = {
  reads?: string[]
  writes?: string[]
  command?: string
  dir?: string
  task?: string
  only_reads?: boolean
  web?: string
  web_chosen?: boolean
  own?: boolean
  confinement?: Confinement
  hosts?: string[]
}

export type AddRequest = {
  session?: string
  rule: string
  decision: Decision
  scope: Scope
  expires?: number
  ended?: boolean
}

export type AgentFinding = {
  id: string
  line?: number
  message: string
  args?: string[]
}

export type AgentKind = {
  name: string
  description?: string
  scope?: string
  file?: string
  use: string
  findings?: AgentFinding[]
}

export type AgentKinds = {
  kinds?: AgentKind[]
  more?: boolean
}

export type AgentMessage = {
  id: string
  from: string
  to: string
  type: string
  text: string
  at: number
  state: string
  writer?: string
  reader?: string
}

export type AgentRef = {
  session: string
}

export type AgentReport = {
  name: string
  version?: string
  models?: number
}

export type AgentTeam = {
  id: string
  name: string
  leader: string
  members?: string[]
  disbanded?: boolean
}

export type Allowance = {
  limit: number
  remaining: number
  reset_at?: number
}

export type AllowedBy = {
  by: Authoriser
  rule?: RuleRef
  calls: number
}

export type Answer = {
  decision: Decision
  scope?: Scope
  rule?: string
  mode?: Mode
  expires?: number
  feedback?: string
  reply?: string
}

export type AnswerRequest = {
  session: string
  approval: string
  answer: Answer
}

export type Approval = {
  session: string
  title: string
  agent?: string
  since: number
  request: ApprovalRequest
}

export type ApprovalAnswer = {
  id: string
  call_id: string
  answer: Answer
  rule?: RuleRef
}

export type ApprovalList = {
  approvals?: Approval[]
}

export type ApprovalRequest = {
  id: string
  call_id: string
  tool: string
  input: string
  reason: string
  reason_code?: ReasonCode
  reason_args?: string[]
  rule?: RuleRef
  by?: Authoriser
  mode?: Mode
  final?: boolean
  each_time?: boolean
  renewed?: boolean
  claim?: string
  origin?: ToolOrigin
  outlook?: Forecast
  access: Access
  changes?: FileChange[]
}

export type Arrival = {
  session: string
  hit: SearchHit
  words?: string[]
  at: number
}

export type ArrivalReply = {
  arrival?: Arrival
}

export type AsideReply = {
  answer: string
  model: string
  cost: Spending
}

export type AsideRequest = {
  session: string
  question: string
}

export type AttachRequest = {
  name: string
  data?: string
}

export type Attached = {
  path: string
  mention: string
  kind: AttachedKind
}

export type AttachedFile = {
  picture?: Media
  text?: string
}

export type AttachedKind = "picture" | "text" | "other"

export type AttachedRequest = {
  path: string
}

export type Authoriser = "mode" | "rule" | "hook" | "skill" | "callback" | "person"

export type Authority = {
  decision: Decision
  by: Authoriser
  mode: Mode
  reason?: string
  code?: ReasonCode
  args?: string[]
  rule?: RuleRef
  hook?: HookSource
  approval?: string
}

export type BlameReply = {
  path: string
  total: number
  runs?: BlameRun[]
  texts?: string[]
  steps?: BlameStep[]
  skipped?: number
  next?: number
}

export type BlameRequest = {
  session?: string
  path: string
  from?: number
  to?: number
  texts?: boolean
}

export type BlameRun = {
  from: number
  to: number
  by: LineAuthor
  step?: number
  unsure?: boolean
}

export type BlameStep = {
  session: string
  title: string
  parent?: string
  seq: number
  turn?: number
  at: number
  kind: Kind
  call: string
  tool?: string
  authority?: Authority
  made: TurnFacts
}

export type Blamed = {
  from: number
  to: number
  program: Program
  name: string
  size: number
  at: number
  folder?: string
  prompt?: string
  when: number
}

export type BoardTask = {
  id: string
  subject: string
  description?: string
  status: string
  owner?: string
  output?: string
  blocked_by?: string[]
  open?: string[]
}

export type BranchFacts = {
  session: string
  cost: Spending
  messages: number
  lines: Lines
  worked_ms: number
  last_end?: EndReason
  more?: number
  unwatched?: boolean
}

export type BranchList = {
  branches?: SessionInfo[]
  more?: number
}

export type BranchRequest = {
  session?: string
  name: string
}

export type Briefing = {
  profile: string
  provider: string
  model: string
  system: string
  size?: number
  documents?: Document[]
  told?: Record<string, string>
}

export type BriefingUpdate = {
  provider: string
  model: string
  text: string
  size?: number
  documents?: Document[]
  told?: Record<string, string>
}

export type BringBackRequest = {
  session: string
  id: string
}

export type CacheBreak = {
  at: number
  reason: CacheBreakReason
  tokens: number
}

export type CacheBreakReason = "model" | "compaction" | "marks" | "repair" | "rewind" | "expired" | "unknown"

export type CacheState = {
  read: number
  write: number
  fresh: number
  until?: number
  broken?: CacheBreak
  warm?: Cost
  cold?: Cost
}

export type CallDraft = {
  call_id: string
  tool: string
  bytes: number
  outline?: DraftedChanges
}

export type CallPlace = {
  at: number
  session: string
  seq: number
}

export type Caps = {
  depth: number
  at_once: number
  rounds?: number
  tokens?: number
}

export type ChangeScope = "session" | "turn" | "uncommitted" | "branch"

export type ChangedFile = {
  path: string
  from?: string
  state: FileState
  added: number
  removed: number
  binary?: boolean
  large?: boolean
  staged: Staged
}

export type ChangesReply = {
  scope: ChangeScope
  git: GitState
  why?: string
  branch?: string
  base?: string
  bases?: string[]
  state?: GitOperation
  files?: ChangedFile[]
  more?: number
  added: number
  removed: number
  uncounted?: boolean
  commit: ChangesSums
}

export type ChangesRequest = {
  session?: string
  scope: ChangeScope
  base?: string
}

export type ChangesSums = {
  files: number
  added: number
  removed: number
}

export type Code = "internal" | "invalid" | "not_found" | "busy" | "folder" | "store_locked" | "store_corrupt" | "store_newer" | "store_failed" | "store_unusable" | "no_model" | "key_unavailable" | "key_needed"

export type CodeFault = {
  path: string
  line: number
  warning?: boolean
  message: string
}

export type CodeSymbol = {
  name: string
  kind?: string
  path: string
  line: number
}

export type CommandCall = {
  name: string
  arguments?: string
}

export type CommandKind = "prompt" | "skill"

export type CommandRequest = {
  session: string
  command: string
}

export type CommandResult = {
  exit_code: number
  timed_out?: boolean
  dropped?: number
  task?: string
  confined?: boolean
}

export type CommandsReply = {
  commands?: SlashCommand[]
}

export type CommitReply = {
  id: string
  hooks_skipped?: string[]
  unsigned?: boolean
}

export type CommitRequest = {
  session?: string
  message: string
  paths?: string[]
}

export type CompactPreview = {
  summary: string
  items: number
  results: number
  pinned: number
  before: number
  after: number
  cost?: Cost
}

export type CompactPreviewRequest = {
  session: string
  focus?: string
}

export type CompactRequest = {
  session: string
  focus?: string
}

export type CompactToRequest = {
  session: string
  summary: string
}

export type CompactUndoRequest = {
  session: string
  compaction: number
}

export type CompactWhen = "" | "share" | "end" | "never"

export type Compaction = {
  seq: number
  at: number
  turn?: number
  trigger: CompactionTrigger
  before: number
  after: number
  summary?: string
  undone?: boolean
}

export type CompactionEnd = {
  trigger: CompactionTrigger
  outcome: Outcome
  tokens_before: number
  tokens_after: number
  tool_blocks_dropped?: number
  duration_ms: number
  elided?: number
  steps?: Step[]
  summary?: string
  kept?: number
  words?: number
  id?: FailureID
  args?: string[]
  message?: string
}

export type CompactionPhase = {
  phase: Phase
  tokens_before: number
  tokens_after: number
  tool_blocks_dropped: number
}

export type CompactionStart = {
  trigger: CompactionTrigger
  tokens: number
  threshold?: number
}

export type CompactionTrigger = "auto" | "manual" | "limit" | "overflow"

export type CompactionUndone = {
  compaction: number
  tokens: number
}

export type CompareFileReply = {
  path: string
  state?: FileState
  diff?: string
  added: number
  removed: number
  binary?: boolean
  large?: boolean
  unknown?: boolean
  our_edits?: FileChange[]
  their_edits?: FileChange[]
  take?: TakePlan
}

export type CompareFileRequest = {
  session: string
  with: string
  path: string
}

export type CompareReply = {
  ours: BranchFacts
  theirs: BranchFacts
  parted?: EventRef
  files?: FileDifference[]
  more?: number
}

export type CompareRequest = {
  session: string
  with: string
}

export type CompleteReply = {
  values?: string[]
  more?: boolean
}

export type CompleteRequest = {
  name: string
  argument: string
  value: string
  arguments?: Record<string, string>
}

export type ConfigureRequest = {
  session: string
  settings: Settings
}

export type Confinement = "confined" | "confined_free" | "unconfined"

export type ConflictReason = "changed" | "binary" | "vanished" | "occupied" | "unkept" | "refused" | "linked" | "full"

export type ConnectionTest = {
  reachable: boolean
  duration_ms: number
  models?: number
  problem?: Failure
}

export type Contact = {
  host: string
  purpose: ContactPurpose
  requests: number
  sent: number
  received: number
  refused?: number
  first: number
  last: number
}

export type ContactPurpose = "model" | "mcp" | "fetch" | "search" | "hook" | "trace" | "command" | "browser"

export type ContextBreakdown = {
  provider: string
  model: string
  window?: number
  used: number
  counted?: boolean
  added?: number
  reserved?: number
  margin?: number
  parts?: ContextPart[]
}

export type ContextInfo = {
  provider: string
  model: string
  window?: number
  used: number
  counted?: boolean
  added?: number
  reserved?: number
  margin?: number
  parts?: ContextPart[]
  threshold?: number
  segments?: ContextSegment[]
  header?: HeaderItem[]
  items?: ContextItem[]
  total: number
  pinned?: number
  dropped?: number
  cache?: CacheState
  compactions?: Compaction[]
  turn: number
}

export type ContextItem = {
  id: string
  type: ItemType
  text: string
  tool?: string
  tokens: number
  priority: number
  turn: number
  at?: number
  cost?: Cost
  pinned?: boolean
  dropped?: boolean
  shortened?: boolean
  failed?: boolean
  fixed?: boolean
}

export type ContextItemRequest = {
  session: string
  id: string
}

export type ContextItemText = {
  text: string
  rest?: number
}

export type ContextKind = "tools" | "system" | "documents" | "summary" | "prompts" | "reminders" | "reasoning" | "answers" | "results"

export type ContextMarkRequest = {
  session: string
  mark: Mark
  items?: string[]
}

export type ContextMarked = {
  mark: Mark
  items?: string[]
}

export type ContextPage = {
  skip?: number
  count?: number
  type?: ItemType
  marked?: boolean
}

export type ContextPart = {
  kind: ContextKind
  tokens: number
}

export type ContextReport = {
  provider: string
  model: string
  window?: number
  used: number
  counted?: boolean
  added?: number
  reserved?: number
  margin?: number
  parts?: ContextPart[]
  threshold?: number
  segments?: ContextSegment[]
  header?: HeaderItem[]
  items?: ContextItem[]
  total: number
  pinned?: number
  dropped?: number
  cache?: CacheState
  compactions?: Compaction[]
  turn: number
  spent: SessionUsage
}

export type ContextRequest = {
  session: string
  page?: ContextPage
}

export type ContextSegment = {
  name: SegmentName
  tokens: number
}

export type Cost = number

export type CostLine = {
  provider?: string
  model?: string
  session?: string
  title?: string
  day?: string
  turn?: number
  purpose?: Purpose
  requests: number
  usage: Usage
  cost: Spending
}

export type CostSummary = {
  total: CostLine
  models?: CostLine[]
  sessions?: CostLine[]
  days?: CostLine[]
  turns?: CostLine[]
  purposes?: CostLine[]
}

export type CostsRequest = {
  session?: string
}

export type Decision = "allow" | "ask" | "deny"

export type Defined = {
  scope?: Scope
  file?: string
  hooks?: unknown
  color?: string
}

export type Details = {
  changes?: FileChange[]
  command?: CommandResult
  listing?: Listing
  agent?: AgentRef
  server?: ServerResult
  skill?: SkillUse
  loaded?: string[]
  worktree?: string
  kept?: KeptState
  card?: unknown
}

export type DiffReply = {
  path: string
  diff: string
  added: number
  removed: number
  mode?: ModeChange
  binary?: boolean
  large?: boolean
  vanished?: boolean
  seen?: string
  edits?: FileChange[]
}

export type DiffRequest = {
  session?: string
  scope: ChangeScope
  base?: string
  path: string
  from?: string
  staged?: Staged
  whitespace?: Whitespace
  context?: number
}

export type Document = {
  path: string
  size: number
  told: number
  problem?: string
  problem_id?: DocumentProblemID
  problem_args?: string[]
}

export type DocumentProblemID = "unopened" | "irregular" | "unread" | "binary" | "foreign" | "missing" | "secret" | "imports"

export type Draft = {
  text?: string
  text_offset?: number
  reasoning?: string
  reasoning_offset?: number
  outputs?: Record<string, OutputTail>
}

export type DraftedChanges = {
  changes?: FileChange[]
  earlier?: number
}

export type Editor = {
  name: string
  command: string
}

export type EditorAnswer = {
  name: string
  path?: string
}

export type EditorCommand = {
  command: string
}

export type EditorList = {
  found?: Editor[]
  automatic?: string
}

export type Effect = {
  id: EffectID
  args?: string[]
  more?: number
}

export type EffectID = "net_code" | "built_code" | "deletes_all" | "deletes_outside" | "deletes_unknown" | "destroys" | "git_discards" | "git_reverts" | "git_force" | "disks" | "stops_machine" | "exhausts" | "other_user" | "hidden" | "too_long" | "leaks" | "deletes" | "git_rewrites" | "ends" | "system" | "sends" | "packages" | "network" | "secrets" | "controls" | "outside" | "shared" | "unknown" | "runs_project" | "loopback" | "changes" | "own" | "reads"

export type Effort = "" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max"

export type Empty = Record<string, never>

export type EndReason = "done" | "interrupted" | "crashed" | "limit" | "budget" | "failed" | "stopped" | "refused"

export type Endpoint = {
  id: string
  name: string
  base_url: string
  headers?: string[]
  body?: Record<string, unknown>
  has_key?: boolean
}

export type EndpointHeader = {
  name: string
  value?: string
}

export type EndpointList = {
  endpoints?: Endpoint[]
}

export type Envelope = {
  session: string
  seq: number
  events?: Event[]
}

export type Error = {
  id: ProblemID
  args?: string[]
  code: Code
  message: string
  kept?: string
  next?: string
  details?: string
}

export type Event = { session_id: string; seq?: number; turn?: number; at: number } & (
  | { kind: "approval_answer"; data: ApprovalAnswer }
  | { kind: "approval_request"; data: ApprovalRequest }
  | { kind: "assistant_text_delta"; data: TextDelta }
  | { kind: "assistant_text_end"; data: TextEnd }
  | { kind: "assistant_text_start"; data: TextStart }
  | { kind: "briefing"; data: Briefing }
  | { kind: "briefing_update"; data: BriefingUpdate }
  | { kind: "compaction_end"; data: CompactionEnd }
  | { kind: "compaction_phase"; data: CompactionPhase }
  | { kind: "compaction_start"; data: CompactionStart }
  | { kind: "compaction_undone"; data: CompactionUndone }
  | { kind: "context_marked"; data: ContextMarked }
  | { kind: "conversation_rewind_undone"; data: RewindUndone }
  | { kind: "conversation_rewound"; data: Rewound }
  | { kind: "error"; data: Failure }
  | { kind: "files_restored"; data: FilesRestored }
  | { kind: "history_repaired"; data: HistoryRepaired }
  | { kind: "hook_end"; data: HookEnd }
  | { kind: "hook_output_delta"; data: HookOutput }
  | { kind: "hook_start"; data: HookStart }
  | { kind: "hooks_change"; data: HooksChange }
  | { kind: "local_command_end"; data: LocalCommandEnd }
  | { kind: "local_command_output_delta"; data: LocalCommandOutput }
  | { kind: "local_command_start"; data: LocalCommandStart }
  | { kind: "loop_detection"; data: LoopDetection }
  | { kind: "processing_end"; data: ProcessingEnd }
  | { kind: "prompt_suggestion"; data: PromptSuggestion }
  | { kind: "queue_change"; data: QueueChange }
  | { kind: "rate_limit"; data: RateLimitReport }
  | { kind: "reasoning_delta"; data: ReasoningDelta }
  | { kind: "retrying"; data: Retrying }
  | { kind: "rules_change"; data: RulesChange }
  | { kind: "servers_change"; data: ServersChange }
  | { kind: "session_end"; data: SessionEnd }
  | { kind: "session_forked"; data: Forked }
  | { kind: "session_imported"; data: Imported }
  | { kind: "session_marks"; data: SessionMarks }
  | { kind: "session_moved"; data: Moved }
  | { kind: "session_start"; data: SessionStart }
  | { kind: "sessions_change"; data: SessionsChange }
  | { kind: "settings"; data: SettingsChange }
  | { kind: "side_request"; data: SideRequest }
  | { kind: "skills_change"; data: SkillsChange }
  | { kind: "steering_injected"; data: SteeringInjected }
  | { kind: "task_change"; data: TaskChange }
  | { kind: "title"; data: Title }
  | { kind: "tool_call_draft"; data: CallDraft }
  | { kind: "tool_call_end"; data: ToolCallEnd }
  | { kind: "tool_call_output_delta"; data: ToolCallOutput }
  | { kind: "tool_call_start"; data: ToolCallStart }
  | { kind: "turn_continued"; data: TurnContinued }
  | { kind: "turn_limit"; data: TurnLimit }
  | { kind: "user_input"; data: UserInput }
  | { kind: "warning"; data: Warning }
)

export type EventRef = {
  session: string
  seq: number
}

export type EventReply = {
  event: Event
}

export type ExpandReply = {
  text: string
}

export type ExpandRequest = {
  session?: string
  name: string
  arguments?: Record<string, string>
}

export type ExportBytes = {
  data?: string
  next?: number
}

export type ExportFormat = "md" | "html" | "json" | "open-agent" | "comate" | "recording"

export type ExportPart = {
  token: string
  offset: number
}

export type ExportRequest = {
  session: string
  format: ExportFormat
  no_output?: boolean
  no_reasoning?: boolean
  redact: RedactPolicy
  language?: string
  costs?: boolean
}

export type ExportReview = {
  findings?: SecretFinding[]
  more?: number
  preview: string
  cut?: boolean
}

export type Exported = {
  path?: string
  token?: string
  name: string
  key?: string
}

export type ExternalAgent = {
  id: string
  name: string
  command: string
  env?: string[]
}

export type ExternalList = {
  agents?: ExternalAgent[]
  found?: KnownAgent[]
}

export type ExternalRef = {
  id: string
}

export type Failure = {
  id?: FailureID
  args?: string[]
  code: string
  message: string
  kept?: string
  next?: string
  details?: string
}

export type FailureID = "turn_failed" | "provider_auth" | "provider_permission" | "provider_not_found" | "provider_invalid" | "provider_rate_limit" | "provider_rate_limit_wait" | "provider_quota" | "provider_overloaded" | "provider_overloaded_wait" | "provider_server" | "provider_server_wait" | "provider_timeout" | "provider_network" | "provider_truncated" | "provider_content_filter" | "provider_context_overflow" | "provider_abort" | "provider_config" | "provider_unsupported" | "provider_bad_object" | "provider_too_large" | "answer_empty" | "window_small" | "window_set" | "compaction_unavailable" | "compaction_nothing" | "compaction_budget" | "compaction_too_little" | "compaction_summary_too_long"

export type FaultList = {
  faults?: CodeFault[]
}

export type FaultQuery = {
  session?: string
  paths?: string[]
}

export type FileChange = {
  path: string
  moved_to?: string
  created?: boolean
  deleted?: boolean
  added: number
  removed: number
  diff: string
}

export type FileDifference = {
  path: string
  state?: FileState
  diff?: string
  added: number
  removed: number
  binary?: boolean
  large?: boolean
  unknown?: boolean
}

export type FileKind = "file" | "executable" | "link"

export type FilePreview = {
  kind: PreviewKind
  size: number
  picture?: Media
}

export type FileRecord = {
  path: string
  before?: FileVersion
  after?: FileVersion
}

export type FileState = "added" | "modified" | "deleted" | "renamed" | "untracked" | "conflicted" | "link" | "submodule"

export type FileVersion = {
  hash?: string
  size?: number
  kind?: FileKind
  private?: boolean
  mode?: number
  unkept?: Unkept
}

export type FilesChanged = {
  files?: FileRecord[]
  more?: number
  lists?: FileVersion[]
  unwatched?: boolean
  hooked?: boolean
}

export type FilesReply = {
  files?: string[]
  more?: boolean
}

export type FilesRequest = {
  session?: string
}

export type FilesRestored = {
  id: string
  undone?: StepRef[]
  redone?: string
  taken?: string
  reverted?: boolean
  paths?: string[]
  partly?: string[]
  files?: FileRecord[]
  more?: number
  lists?: FileVersion[]
  unwatched?: boolean
  hooked?: boolean
  conflicts?: RestoreConflict[]
}

export type FilesWaitReply = {
  stamp: string
  changed?: boolean
}

export type FilesWaitRequest = {
  session?: string
  folders?: string[]
  stamp?: string
}

export type FindReply = {
  hits?: Hit[]
  taken_back?: number
  next?: number
}

export type FindRequest = {
  session: string
  text: string
  before?: number
  limit?: number
}

export type Finish = {
  reason: FinishReason
  raw?: string
  detail?: string
}

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter" | "refusal" | "context_overflow" | "pause" | "bad_tool_call" | "error" | "interrupted" | "other"

export type FolderList = {
  folders?: string[]
}

export type Font = {
  family?: string
  size?: number
}

export type Fonts = {
  interface?: Font
  code?: Font
}

export type Forecast = {
  effects?: Effect[]
  risk: Risk
}

export type ForeignHit = {
  program: Program
  name: string
  size: number
  at: number
  folder?: string
  prompt?: string
  kind: PieceKind
  text: string
  when: number
}

export type ForeignHits = {
  hits?: ForeignHit[]
  blamed?: Blamed[]
  file?: string
  more?: boolean
}

export type ForeignQuery = {
  query: string
}

export type ForkFolder = "" | "project" | "worktree"

export type ForkOrigin = {
  session: string
  seq: number
  through?: number
}

export type ForkPlace = {
  event?: number
  messages?: number
}

export type ForkReply = {
  session: SessionInfo
  prompt?: string
  included?: number
}

export type ForkRequest = {
  session: string
  new_id?: string
  at?: ForkPlace
  folder?: ForkFolder
  title?: string
  label?: string
  settings?: Settings
}

export type Forked = {
  origin: ForkOrigin
  worktree?: string
  moved?: boolean
  branch?: string
}

export type FormQuestion = {
  message: string
  schema?: unknown
}

export type Found = {
  sessions?: FoundSession[]
  words?: string[]
  filters?: SearchFilter[]
  hyphens?: SearchHyphen[]
  next?: string
  behind?: number
}

export type FoundReply = {
  found?: FoundTranscript[]
  total: number
  folder: string
  more?: boolean
}

export type FoundRequest = {
  offset?: number
  limit?: number
}

export type FoundSession = {
  session: string
  title: string
  folder: string
  parent?: string
  parent_title?: string
  archived?: boolean
  hits?: SearchHit[]
  more?: boolean
}

export type FoundTranscript = {
  program: Program
  name: string
  size: number
  at: number
  folder?: string
  prompt?: string
  session?: string
  grown?: boolean
}

export type GitOperation = "merge" | "rebase" | "cherry-pick" | "revert" | "am" | "bisect"

export type GitState = "ready" | "none" | "missing" | "refused"

export type Happening = "connected" | "failed" | "stream_ended" | "unlisted" | "no_templates" | "cut" | "cut_endless" | "no_message" | "foreign" | "too_long"

export type HeaderItem = {
  type: ItemType
  name?: string
  tokens: number
  count?: number
}

export type Helper = {
  parent: string
  by?: string
  depth?: number
  folder: string
  rounds: number
  task?: string
  call?: string
  label?: string
  type?: string
  name?: string
  defined?: Defined
  worktree?: string
  skills?: SkillUse[]
}

export type HistoryRepaired = {
  message: string
  args?: string[]
  repair?: Repair
  bytes?: number
  from?: number
  to?: number
  subject?: string
  pictures?: PictureChange[]
}

export type HistoryReply = {
  events?: Event[]
  more?: boolean
}

export type HistoryRequest = {
  session: string
  after?: number
  before?: number
  limit?: number
}

export type Hit = {
  seq: number
  kind: Kind
  part: TextPart
  of?: string
  nth?: number
  snippet: string
}

export type HookAction = {
  kind: HookKind
  command?: string
  args?: string[]
  shell?: string
  url?: string
  headers?: Record<string, string>
  allowed_env_vars?: string[]
}

export type HookCause = "matcher" | "rule" | "bad_matcher" | "many_files" | "kind" | "start" | "signal" | "missing" | "exit" | "output" | "json" | "status" | "request" | "panic" | "function" | "busy" | "update" | "view" | "not_allowed"

export type HookDraft = {
  name?: string
  point: HookPoint
  matcher?: string
  if?: string
  action: HookAction
  timeout?: number
  async?: boolean
  once?: boolean
  status_message?: string
}

export type HookDryRunReply = {
  calls: number
  matched: number
  tools?: string[]
  examples?: HookTriedCall[]
  findings?: HookFinding[]
}

export type HookDryRunRequest = {
  draft: HookDraft
  replaces?: string
  run?: boolean
}

export type HookEffect = {
  decision?: Decision
  reason?: string
  input?: string
  context?: string
  output?: string
  stopped?: boolean
  stop?: string
  said?: string
  message?: string
  title?: string
  notice?: HookNotice
  rule?: HookRule
}

export type HookEnd = {
  point: HookPoint
  name: string
  call_id?: string
  failed?: boolean
  duration_ms: number
  decision?: Decision
  stopped?: boolean
  message?: string
  input?: string
  said?: string
  notice?: HookNotice
  id?: string
  files?: FilesChanged
}

export type HookEntryRequest = {
  id: number
}

export type HookFile = {
  path: string
  scope: Scope
  form: HookForm
  problem?: Error
  missing?: HookMissing[]
  findings?: HookFinding[]
}

export type HookFinding = {
  line?: number
  id: string
  args?: string[]
  message: string
  harmless?: boolean
}

export type HookForm = "agent" | "claude"

export type HookKind = "command" | "http" | "unknown"

export type HookLast = {
  entry: number
  at: number
  outcome: HookOutcome
  session: string
}

export type HookLogEntry = {
  id: number
  at: number
  place: HookPlace
  hook: HookRef
  outcome: HookOutcome
  cause?: HookCause
  detail?: string
  exit_code?: number
  duration_ms: number
  effect: HookEffect
  input?: string
  stdout?: string
  stderr?: string
  cut?: string[]
}

export type HookLogReply = {
  entries?: HookLogRow[]
  more?: boolean
  kept: number
  kept_in_all: number
  lost?: number
}

export type HookLogRequest = {
  session?: string
  hook?: string
  point?: HookPoint
  tool?: string
  outcome?: HookOutcome
  call_id?: string
  before?: number
  limit?: number
}

export type HookLogRow = {
  id: number
  at: number
  place: HookPlace
  hook: HookRef
  outcome: HookOutcome
  cause?: HookCause
  detail?: string
  exit_code?: number
  duration_ms: number
  effect: HookEffect
}

export type HookMissing = {
  id: string
  name: string
  gone?: boolean
}

export type HookNotice = {
  title: string
  body: string
  level: NoticeLevel
}

export type HookOrigin = {
  scope: Scope
  file?: string
  line?: number
  form?: HookForm
}

export type HookOutcome = "ran" | "not_matched" | "off" | "untrusted" | "changed" | "once" | "duplicate" | "failed" | "timed_out" | "interrupted" | "started"

export type HookOutput = {
  point: HookPoint
  name: string
  call_id?: string
  text: string
}

export type HookPlace = {
  session: string
  point: HookPoint
  tool?: string
  call_id?: string
  file?: string
}

export type HookPoint = "setup" | "sessionStart" | "userPromptSubmit" | "preToolUse" | "permissionRequest" | "permissionDenied" | "postToolUse" | "postToolUseFailure" | "postSampling" | "stop" | "subagentStart" | "subagentStop" | "teammateIdle" | "taskCreated" | "taskCompleted" | "notification" | "configChange" | "cwdChanged" | "fileChanged" | "worktreeCreate" | "worktreeRemove" | "preCompact" | "postCompact" | "sessionEnd"

export type HookPointInfo = {
  point: HookPoint
  event: string
  matches?: string
  example: unknown
  answers?: HookPower[]
  blocks?: boolean
}

export type HookPointsReply = {
  points?: HookPointInfo[]
}

export type HookPower = "deny" | "ask" | "allow" | "input" | "output" | "context" | "end"

export type HookPreviewReply = {
  json: string
}

export type HookRef = {
  id: string
  name: string
  matcher?: string
  origin: HookOrigin
}

export type HookRemoveRequest = {
  id: string
}

export type HookReplayRequest = {
  entry: number
  draft?: HookDraft
}

export type HookRow = {
  id: string
  draft: HookDraft
  origin: HookOrigin
  state: HookState
  trust?: string
  findings?: HookFinding[]
  last?: HookLast
}

export type HookRule = {
  rule: string
  decision: Decision
}

export type HookSaveRequest = {
  scope?: Scope
  draft: HookDraft
  replaces?: string
}

export type HookSource = {
  name: string
  file?: string
}

export type HookStart = {
  point: HookPoint
  name: string
  call_id?: string
  status?: string
}

export type HookState = "runs" | "off" | "foreign" | "untrusted" | "changed" | "refused" | "broken"

export type HookSwitchRequest = {
  id: string
  on: boolean
}

export type HookTemplate = {
  id: HookTemplateID
  draft: HookDraft
  example: unknown
}

export type HookTemplateID = "format" | "secrets" | "notify" | "tests"

export type HookTemplatesReply = {
  templates?: HookTemplate[]
}

export type HookTestRequest = {
  draft: HookDraft
  replaces?: string
  input?: unknown
  matching?: boolean
}

export type HookTriedCall = {
  session: string
  call_id: string
  tool: string
  text: string
  at: number
  run?: HookLogEntry
}

export type HooksChange = {
  logged?: boolean
}

export type HooksReply = {
  files?: HookFile[]
  hooks?: HookRow[]
}

export type HooksRequest = {
  session?: string
}

export type HostList = {
  hosts?: Contact[]
  offline?: boolean
}

export type ImportProgress = {
  path?: string
  done: number
}

export type ImportReply = {
  session: SessionInfo
  already?: boolean
  grown?: boolean
}

export type ImportRequest = {
  program?: Program
  name?: string
  path?: string
  again?: boolean
}

export type Imported = {
  program: Program
  path: string
  id?: string
  size: number
  folder?: string
  through: number
  skipped?: number
  pictures?: number
}

export type ItemType = "user_message" | "steering_message" | "assistant_message" | "tool_result" | "local_command" | "system_reminder" | "compaction_summary" | "system_prompt" | "memory" | "system_env" | "git_env" | "tool_strategy" | "subagent_strategy" | "skill_strategy" | "mcp_tool"

export type Kept = "uncommitted" | "hidden" | "ignored" | "submodule" | "unmerged" | "elsewhere" | "locked" | "in_use" | "strange"

export type KeptAt = {
  tool: string
  seq: number
  line?: string
}

export type KeptState = {
  state: unknown
  text?: string
  line?: string
}

export type KeyChoice = {
  preset?: string
  keys?: Record<string, string[]>
}

export type KeyFile = {
  preset?: string
  keys?: Record<string, string[]>
  path: string
  damaged?: string
}

export type KeyInfo = {
  provider: string
  name: string
  source?: KeySource
  base_url?: string
  variable: string
  needs_base_url?: boolean
  own_base_url?: string
  vendor?: boolean
  local?: boolean
}

export type KeyList = {
  keys?: KeyInfo[]
  keyring?: boolean
  file?: string
}

export type KeySource = "environment" | "keyring" | "file"

export type Kind = "session_start" | "session_end" | "settings" | "briefing" | "briefing_update" | "title" | "user_input" | "turn_continued" | "reasoning_delta" | "assistant_text_start" | "assistant_text_delta" | "assistant_text_end" | "tool_call_draft" | "tool_call_start" | "tool_call_output_delta" | "tool_call_end" | "approval_request" | "approval_answer" | "hook_start" | "hook_output_delta" | "hook_end" | "steering_injected" | "local_command_start" | "local_command_output_delta" | "local_command_end" | "retrying" | "side_request" | "prompt_suggestion" | "rate_limit" | "task_change" | "queue_change" | "hooks_change" | "sessions_change" | "servers_change" | "skills_change" | "rules_change" | "history_repaired" | "compaction_start" | "compaction_phase" | "compaction_end" | "loop_detection" | "turn_limit" | "warning" | "error" | "processing_end" | "files_restored" | "conversation_rewound" | "conversation_rewind_undone" | "session_forked" | "session_marks" | "session_imported" | "session_moved" | "context_marked" | "compaction_undone"

export type KnownAgent = {
  name: string
  command: string
  env?: string[]
}

export type Lack = "missing" | "refused" | "kernel" | "unsupported" | "weaker" | "reads" | "processes" | "mounts" | "signals"

export type Landmark = "prompt" | "error" | "call"

export type LandmarkReply = {
  seq?: number
  kind?: Kind
  of?: string
  next?: number
}

export type LandmarkRequest = {
  session: string
  landmark: Landmark
  of?: string
  from: number
  back?: boolean
}

export type LanguageRestart = {
  language: string
  root: string
}

export type LanguageServer = {
  language: string
  program: string
  root?: string
  state: LanguageState
  problem?: string
  memory?: number
  pid?: number
}

export type LanguageServers = {
  servers?: LanguageServer[]
  off?: boolean
}

export type LanguageState = "ready" | "starting" | "running" | "failed" | "off"

export type LanguageStop = {
  language: string
}

export type Layout = {
  sidebar_width?: number
  sidebar_hidden?: boolean
  panel_width?: number
  panel?: string
  panel_shown?: boolean
  rail_names?: boolean
  rail?: string
  diff_split?: boolean
  diff_scrolls?: boolean
  diff_hides_spaces?: boolean
  density?: string
}

export type LedgerFilter = {
  by?: Authoriser
  decision?: Decision
  tool?: string
  rule?: string
  since?: number
  until?: number
  unasked?: boolean
  unrecorded?: boolean
}

export type LedgerPage = {
  rows?: LedgerRow[]
  next?: CallPlace
}

export type LedgerRequest = {
  session?: string
  filter: LedgerFilter
  before?: CallPlace
  limit?: number
}

export type LedgerRow = {
  place: CallPlace
  tool: string
  subject: string
  cut?: boolean
  start?: number
  outcome: Outcome
  duration_ms: number
  authority?: Authority
  answer?: Answer
  outlook?: Forecast
  lost?: boolean
}

export type Level = {
  by: Means
  writes: boolean
  reads: boolean
  network: boolean
  sockets: boolean
  processes: boolean
  lack?: Lack
  detail?: string
}

export type Levels = {
  low?: string
  mid?: string
  high?: string
}

export type LineAuthor = "step" | "earlier" | "outside" | "unknown"

export type Lines = {
  added: number
  removed: number
}

export type LinesReply = {
  lines?: string[]
  total: number
}

export type LinesRequest = {
  session?: string
  path: string
  from: number
  to: number
}

export type LinkQuestion = {
  message: string
  url: string
}

export type LinkRequest = {
  url: string
}

export type Listing = {
  count: number
  unit: string
}

export type LocalCommandEnd = {
  id: string
  command: string
  output: string
  model_output?: string
  outcome: Outcome
  duration_ms: number
  size?: number
  result?: CommandResult
  files?: FilesChanged
}

export type LocalCommandOutput = {
  id: string
  text: string
  offset: number
}

export type LocalCommandStart = {
  id: string
  command: string
}

export type LookReply = {
  absences?: Absence[]
}

export type LookRequest = {
  at: number
}

export type LoopDetection = {
  cycle: number
  calls: number
}

export type LostEvents = {
  session: string
  from: number
  to: number
}

export type Mark = "pin" | "unpin" | "drop" | "restore"

export type MarkRequest = {
  session: string
  tags?: string[]
  label?: string
  pinned?: boolean
  archived?: boolean
  deleted?: boolean
}

export type Meaning = "command" | "prefix" | "pattern" | "commands" | "reads" | "edits" | "host" | "network" | "agent" | "server" | "tool" | "tools" | "nothing"

export type Means = "" | "namespaces" | "landlock" | "seatbelt" | "restricted_token"

export type Media = {
  mime: string
  name?: string
  url?: string
  data?: string
}

export type MemoFile = {
  path: string
  is_new?: boolean
  end?: string
  added: string
  full?: boolean
}

export type MemoNote = {
  scope: MemoScope
  text: string
}

export type MemoScope = "project" | "user"

export type MemoryFile = {
  kind: MemoryKind
  path: string
  tokens: number
  size: number
  told: number
  problem?: Problem
  cause?: string
  from?: string
  later?: boolean
  for?: string[]
  absent?: boolean
}

export type MemoryFileRequest = {
  session?: string
  path: string
}

export type MemoryKind = "chosen" | "project" | "own"

export type MemoryReply = {
  settings: MemorySettings
  files?: MemoryFile[]
  tokens: number
  read_only?: boolean
}

export type MemoryRequest = {
  session?: string
}

export type MemorySaveRequest = {
  session?: string
  path: string
  text: string
  digest: string
}

export type MemorySettings = {
  files?: string[]
  max_tokens?: number
}

export type MemorySettingsRequest = {
  session?: string
  settings: MemorySettings
}

export type MemoryText = {
  text: string
  digest: string
}

export type MergeFiles = {
  session: string
  run: string
  files?: UndoChoice[]
}

export type MergePlan = {
  files?: UndoFile[]
  left?: string[]
  more?: number
}

export type MergeRequest = {
  session: string
  run: string
}

export type Message = {
  role: Role
  parts?: Part[]
  origin?: Origin
}

export type Mode = "default" | "plan" | "auto" | "acceptEdits" | "dontAsk" | "bypassPermissions"

export type ModeChange = "" | "executable" | "plain"

export type ModelInfo = {
  id: string
  name: string
  context_window?: number
  efforts?: Effort[]
  scripted?: boolean
  price?: ModelPrice
  abilities?: Ability[]
  blind?: boolean
  recommended?: boolean
  shutdown?: string
  replacement?: string
  assumed?: string
}

export type ModelList = {
  providers?: ProviderInfo[]
  problem?: Error
}

export type ModelPrice = {
  input: number
  output: number
  cache_read?: number
  cache_write?: number
}

export type ModelRef = {
  provider: string
  model?: string
}

export type ModelsRequest = {
  refresh?: boolean
}

export type Moved = {
  from: string
  folder: string
}

export type MovedFolder = {
  folder?: string
  sessions?: number
  by?: string
}

export type Notice = {
  session: string
  kind: string
  title: string
  body: string
}

export type NoticeLevel = "debug" | "info" | "warning" | "error"

export type Notices = {
  off?: boolean
  mute_waiting?: boolean
  mute_done?: boolean
  mute_failed?: boolean
}

export type OAuthDraft = {
  client_id?: string
  callback_port?: number
  scopes?: string[]
}

export type OpenFileRequest = {
  session?: string
  path: string
  line?: number
}

export type OpenRequest = {
  session: string
  limit?: number
}

export type OpenedProject = {
  folder: string
  address?: string
}

export type Origin = {
  provider: string
  api: string
  model: string
  base_url?: string
  response_id?: string
}

export type Outcome = "done" | "failed" | "denied" | "interrupted"

export type OutputTail = {
  text: string
  offset: number
}

export type Part = {
  kind: PartKind
  text?: string
  media?: Media
  reasoning?: Reasoning
  call?: ToolCall
  result?: ToolResult
  native?: unknown
}

export type PartKind = "text" | "media" | "reasoning" | "tool_call" | "tool_result" | "native"

export type PathsRequest = {
  session?: string
  paths?: string[]
}

export type Phase = "selective_start" | "selective_done" | "summary_start" | "summary_done" | "rollback"

export type PickFolderRequest = {
  title: string
}

export type PickedFolder = {
  folder?: string
}

export type PictureChange = {
  id: PictureChangeID
  name?: string
  args?: string[]
}

export type PictureChangeID = "unseen" | "other_type" | "broken" | "too_large" | "smaller" | "typed"

export type Piece = {
  kind: PieceKind
  at: number
  text?: string
  tool?: string
  input?: string
  output?: string
  failed?: boolean
  cut?: boolean
}

export type PieceKind = "prompt" | "answer" | "thought" | "call" | "summary"

export type Preferences = {
  theme?: string
  high_contrast?: boolean
  language?: string
  new_session: Settings
  levels?: Levels
  plain_titles?: boolean
  suggest_prompts?: boolean
  long_cache?: boolean
  patience?: number
  command_timeout?: number
  cut_results?: boolean
  compact?: CompactWhen
  editor?: string
  fonts?: Fonts
  zoom?: number
  notices?: Notices
  sandbox?: Sandbox
  no_language_servers?: boolean
  languages_off?: string[]
  tools_off?: string[]
  agent_depth?: number
  tree_rounds?: number
  tree_tokens?: number
  guide?: string
  layout: Layout
  damaged?: boolean
}

export type PreferencesChange = {
  before: Preferences
  after: Preferences
}

export type PreviewKind = "picture" | "pdf" | "other"

export type PreviewRequest = {
  session?: string
  path: string
}

export type Problem = "unopened" | "irregular" | "unread" | "binary" | "foreign" | "missing" | "secret" | "imports"

export type ProblemID = "internal" | "method" | "arguments" | "listen" | "link_invalid" | "link_here" | "folder_unusable" | "folder_missing" | "folder_unopened" | "folder_unread" | "folder_is_file" | "project_path" | "project_here" | "project_served" | "project_unopened" | "pick_folder" | "session_missing" | "session_unnamed" | "session_undeleted" | "session_working" | "session_closing" | "session_waits" | "session_elsewhere" | "session_foreign" | "session_none" | "session_taken" | "message_empty" | "command_empty" | "turn_complete" | "turn_unsaved" | "nothing_to_compact" | "history_range" | "event_missing" | "answer_invalid" | "approval_elsewhere" | "approval_answered" | "message_delivered" | "queue_verb" | "queue_empty" | "task_unknown" | "task_port" | "attach_large" | "server_question_gone" | "server_answer" | "command_unknown" | "command_argument" | "slash_unknown" | "slash_mistyped" | "command_failed" | "model_unchosen" | "limit_negative" | "mode_unknown" | "command_timeout" | "patience" | "agent_caps" | "compact_unknown" | "tool_unknown" | "bypass_by_default" | "font_size" | "font_name" | "setting_damaged" | "home_unusable" | "store_unopened" | "store_locked" | "store_damaged" | "store_newer" | "store_failed" | "store_full" | "event_unread" | "provider_unknown" | "address_missing" | "address_damaged" | "key_missing" | "key_missing_or_set" | "model_unlisted" | "models_file" | "key_unread" | "key_unread_or_set" | "key_garbled" | "key_unsaved" | "key_unsaved_or_set" | "key_unremoved" | "key_of_other" | "key_not_own" | "key_of_environment" | "address_invalid" | "address_password" | "address_query" | "endpoint_not_here" | "endpoint_missing" | "endpoints_full" | "endpoint_unnamed" | "endpoint_unaddressed" | "headers_full" | "header_reserved" | "header_twice" | "header_value" | "header_empty" | "body_invalid" | "body_reserved" | "changes_no_git" | "changes_no_repository" | "changes_refused" | "changes_outside" | "changes_vanished" | "changes_unreadable" | "changes_no_text" | "changes_too_large" | "changes_changed" | "changes_ambiguous" | "changes_occupied" | "changes_not_text" | "changes_not_possible" | "changes_not_written" | "changes_read_only" | "changes_hunk_invalid" | "changes_base_unknown" | "changes_base_unrelated" | "changes_filtered" | "changes_in_progress" | "changes_nothing_staged" | "changes_staged_outside" | "changes_conflicts" | "changes_no_identity" | "changes_no_message" | "changes_branch_invalid" | "changes_branch_exists" | "changes_locked" | "changes_slow" | "changes_scope" | "changes_unproposed" | "file_missing" | "editor_missing" | "editor_invalid" | "editor_failed" | "editor_ended" | "editor_absent" | "editor_nothing" | "fork_place" | "fork_folder" | "fork_read_only" | "worktree_unmade" | "worktree_gone" | "worktree_kept" | "take_read_only" | "take_stale" | "take_conflict" | "merge_no_tree" | "merge_stale" | "race_runs" | "stop_unreached" | "aside_question" | "aside_failed" | "hook_missing" | "hook_entry" | "hook_draft" | "hook_scope" | "hook_input" | "hooks_untrustable" | "hook_not_kept" | "hook_untrusted" | "hook_unwritten" | "hooks_file" | "hooks_file_unread" | "rule_empty" | "rule_long" | "rule_hidden" | "rule_bracket" | "rule_tool" | "rule_selector" | "rule_tools" | "rule_parent" | "rule_pattern" | "rule_stars" | "rule_domain" | "rule_form" | "rule_decision" | "rule_past" | "rule_scope" | "rule_missing" | "rule_other" | "rules_full" | "rules_file" | "rules_file_unread" | "rules_changed" | "rules_unwritten" | "link_outside" | "link_nowhere" | "search_missing" | "search_failed" | "server_missing" | "server_draft" | "server_scope" | "server_taken" | "server_edited" | "server_unwritten" | "server_secret" | "server_broken" | "server_untrusted" | "server_changed" | "server_refused" | "server_shadowed" | "server_off" | "server_tool" | "server_tool_changed" | "server_tool_sealed" | "server_failed" | "server_needs_auth" | "server_config" | "server_no_file" | "server_start" | "server_exited" | "server_slow" | "server_silent" | "server_blocked" | "server_garbage" | "server_too_large" | "server_version" | "server_unreached" | "server_http" | "server_redirect" | "server_gave_up" | "server_protocol" | "server_error" | "server_timeout" | "server_closed" | "server_tool_unusable" | "server_authorise" | "server_auth_ended" | "server_auth_refused" | "server_auth_scopes" | "server_auth_denied" | "server_auth_expired" | "server_auth_port" | "server_auth_client" | "server_auth_unattended" | "server_tool_off" | "server_import" | "server_import_other" | "server_import_unread" | "servers_file" | "servers_file_unread" | "servers_file_empty" | "servers_many" | "session_id" | "session_ambiguous" | "session_deleted" | "agent_marked" | "session_kept" | "tags_full" | "task_text" | "task_gone" | "task_final" | "task_taken" | "task_cycle" | "board_full" | "skill_missing" | "skill_file" | "skill_unread" | "skill_off" | "skill_untrusted" | "skill_changed" | "skill_edited" | "skill_built_in" | "skill_elsewhere" | "skill_large" | "skill_name" | "skill_taken" | "skill_scope" | "skill_unwritten" | "skill_untrashed" | "skill_back" | "skill_parcel_path" | "skill_parcel_unread" | "skill_parcel_empty" | "skill_parcel_entry" | "skill_parcel_large" | "skill_parcel_changed" | "skill_lines" | "skill_line_denied" | "store_read_only" | "store_repairing" | "store_in_use" | "store_migration" | "store_backup_room" | "store_backup_failed" | "store_partly" | "sessions_hidden" | "events_lost" | "nothing_to_move" | "not_moved" | "store_repair_empty" | "store_repair_failed" | "terminal_gone" | "terminal_many" | "terminal_none" | "terminal_failed" | "terminal_deaf" | "memo_empty" | "memo_long" | "memo_failed" | "keys_unsaved" | "external_unnamed" | "external_command" | "external_env" | "external_full" | "external_gone" | "external_failed" | "export_format" | "export_unsaved" | "export_gone" | "import_unread" | "import_unknown" | "import_empty" | "import_large" | "import_stopped" | "import_newer" | "import_missing" | "share_full" | "share_pattern" | "share_network" | "share_tunnel" | "share_tunnel_failed" | "trust_missing" | "trust_changed" | "trust_blocked" | "undo_nothing" | "redo_nothing" | "undo_stale" | "undo_working" | "undo_unsaved" | "rewind_nothing" | "rewind_followed" | "context_item" | "preview_budget" | "summary_invalid" | "compaction_gone"

export type ProcessingEnd = {
  reason: EndReason
  next?: boolean
  rounds: number
  usage: Usage
  cost?: Spending
}

export type Program = "atelier" | "claude_code" | "codex" | "open_agent_sdk" | "comate" | "gemini_cli" | "opencode"

export type ProjectInfo = {
  folder: string
  name: string
  branch?: string
  version: string
  home: string
}

export type ProjectList = {
  projects?: RecentProject[]
}

export type ProjectRequest = {
  folder: string
  arrival?: Arrival
}

export type PromptArgument = {
  name: string
  description?: string
  required?: boolean
}

export type PromptList = {
  prompts?: SentPrompt[]
  more?: boolean
}

export type PromptQuery = {
  text?: string
  all?: boolean
  limit?: number
}

export type PromptSuggestion = {
  text: string
}

export type ProposeReply = {
  message: string
}

export type ProposeRequest = {
  session?: string
}

export type ProviderInfo = {
  id: string
  name: string
  ready: boolean
  problem?: Failure
  models?: ModelInfo[]
  vendor?: boolean
  local?: boolean
  default?: string
  listed_at?: number
}

export type ProviderRef = {
  provider: string
}

export type Purpose = "turn" | "title" | "suggestion" | "subagent" | "summary" | "commit" | "sampling" | "fetch" | "search" | "shorten" | "aside"

export type PutBackRequest = {
  session?: string
  scope: ChangeScope
  base?: string
  path: string
  from?: string
  staged?: Staged
  hunk?: string
  seen?: string
}

export type QueueAddRequest = {
  session: string
  verb: Verb
  text: string
  command?: CommandCall
}

export type QueueChange = {
}

export type QueueEditRequest = {
  session: string
  message: Queued
}

export type QueueMoveRequest = {
  session: string
  id: string
  to: number
}

export type QueueRemoveRequest = {
  session: string
  id: string
}

export type QueueReply = {
  queue?: Queued[]
}

export type Queued = {
  id: string
  verb: Verb
  text: string
  typed?: string
  skill?: SkillUse
  from?: string
  media?: Media[]
}

export type RaceReply = {
  session: SessionInfo
  runs?: SessionInfo[]
}

export type RaceRequest = {
  session?: string
  prompt: string
  runs?: Runner[]
}

export type RateLimit = {
  requests?: Allowance
  tokens?: Allowance
}

export type RateLimitReport = {
  provider: string
  limit: RateLimit
}

export type ReasonCode = "tool_off" | "skill" | "agent" | "skill_approved" | "never_asks" | "controls" | "secret" | "own_folder" | "outside" | "leads_outside" | "command" | "command_unsure" | "command_place" | "command_reads" | "changes" | "changes_two" | "changes_more" | "reads" | "own" | "confined" | "unconfined" | "hosts" | "web" | "unforeseen" | "rule_denies" | "rule_asks" | "rule_unsure" | "rule_allows" | "rules_unread" | "lists_deny" | "lists_ask" | "callback_denied" | "callback_asks" | "callback_allowed" | "hook_refused" | "hook_wants_asked" | "hook_allowed" | "question" | "plan_first" | "plan_ready" | "asks_nothing"

export type Reasoning = {
  text?: string
  signature?: string
  encrypted?: string
}

export type ReasoningDelta = {
  text: string
  offset: number
}

export type RecentProject = {
  folder: string
  name: string
  path: string
  branch?: string
  opened: number
  waiting?: number
  missing?: boolean
  current?: boolean
}

export type RedactPolicy = {
  off?: boolean
  keep?: string[]
  words?: string[]
  patterns?: string[]
  home?: boolean
}

export type RemoveReply = {
  removed: boolean
  worktrees?: WorktreeFate[]
}

export type RemoveRequest = {
  session?: string
  rule: string
  decision: Decision
  scope: Scope
  file?: string
}

export type RenameRequest = {
  session: string
  title: string
}

export type Repair = "native" | "elided" | "pictures" | "foreign" | "calls" | "cut" | "attachments" | "items"

export type ResendRequest = {
  session: string
  turn: number
  text: string
  command?: CommandCall
  files?: UndoChoice[]
}

export type RestoreConflict = {
  path: string
  reason: ConflictReason
  hunks?: number
}

export type ResultResource = {
  uri: string
  name?: string
  description?: string
  mime?: string
  text?: string
  link?: boolean
}

export type Retrying = {
  provider: string
  model: string
  attempt: number
  of: number
  delay_ms: number
  id?: FailureID
  args?: string[]
  code: string
  message: string
  sent?: boolean
  usage?: Usage
  cost?: Cost
}

export type RewindReply = {
  id: string
  prompt: string
}

export type RewindRequest = {
  session: string
  turn?: number
}

export type RewindUndone = {
  id: string
}

export type Rewound = {
  id: string
  to: number
  prompt?: string
  turns: number
}

export type Risk = "low" | "elevated" | "dangerous"

export type Role = "system" | "developer" | "user" | "assistant" | "tool"

export type RoomSettings = {
  preset?: RulesPreset
  rules?: Record<ItemType, Rule>
  own_summary?: boolean
  offload_from?: number
  budget?: number
}

export type Rule = {
  strategy: Strategy
  keep?: number
  limit?: number
}

export type RuleEntry = {
  rule: string
  decision: Decision
  scope: Scope
  expires?: number
  state: RuleState
  words: RuleWords
  file?: string
  line?: number
  problem?: Error
}

export type RuleRef = {
  text: string
  decision: Decision
  scope: Scope
}

export type RuleState = "holds" | "expired" | "unaccepted" | "unreadable"

export type RuleWords = {
  means: Meaning
  of?: string
  too_wide?: boolean
}

export type RulesChange = {
}

export type RulesPreset = "" | "recent" | "summary"

export type RulesReply = {
  rules?: RuleEntry[]
  files?: SettingsFile[]
}

export type RulesRequest = {
  session?: string
}

export type Run = {
  session: SessionInfo
  worktree: string
  agent?: boolean
  facts: BranchFacts
  files: number
  added: number
  removed: number
  test?: Test
  unread?: string
}

export type RunOutcome = "running" | "done" | "failed" | "missed" | "busy" | "held" | "cut"

export type Runner = {
  provider: string
  model: string
  effort?: Effort
}

export type RunsReply = {
  target: SessionInfo
  test?: Test
  runs?: Run[]
  more?: number
}

export type SamplingMessage = {
  role: string
  text: string
  kind?: string
}

export type SamplingQuestion = {
  provider: string
  model: string
  system?: string
  messages?: SamplingMessage[]
  max_tokens: number
  estimate?: number
}

export type Sandbox = {
  on?: boolean
  free?: boolean
  inside?: boolean
}

export type SandboxCaches = {
  size: number
  most: number
}

export type SandboxLevel = {
  level: Level
  holds: boolean
  on: boolean
  free: boolean
  outside: boolean
  by_file?: boolean
  broken?: boolean
  hosts?: string[]
}

export type ScheduleAction = "pause" | "resume" | "run" | "delete"

export type ScheduleChange = {
  id: string
  action: ScheduleAction
}

export type ScheduleRun = {
  task: string
  name: string
  session: string
  due: number
  began?: number
  ended?: number
  outcome: RunOutcome
  more?: number
  why?: string
}

export type ScheduleTask = {
  id: string
  session: string
  kind: TaskKind
  name: string
  schedule?: string
  prompt: string
  paused?: boolean
  created: number
  next?: number
  title?: string
}

export type SchedulesReply = {
  tasks?: ScheduleTask[]
  runs?: ScheduleRun[]
  limit: number
}

export type Scope = "once" | "session" | "local" | "project" | "user"

export type SearchChange = {
  engine?: string
  address?: string
  key?: string
  remove_key?: boolean
}

export type SearchFilter = {
  name: string
  value: string
  not?: boolean
  unclear?: boolean
  raw: string
}

export type SearchHit = {
  seq: number
  at: number
  kind: Kind
  part: TextPart
  of?: string
  tool?: string
  snippet: string
  marks?: TextMark[]
  places?: number
  taken_back?: boolean
  copies?: number
}

export type SearchHyphen = {
  word: string
  excluded?: boolean
  raw: string
  instead?: string
}

export type SearchRequest = {
  text: string
  everywhere?: boolean
  session?: string
  next?: string
  limit?: number
}

export type SearchService = {
  id: string
  title: string
  keyed: boolean
  source?: KeySource
  variable: string
  ready: boolean
}

export type SearchState = {
  engine?: string
  address?: string
  services?: SearchService[]
}

export type SecretFinding = {
  id: string
  kind: SecretKind
  value: string
  masked: string
  count: number
  places?: SecretPlace[]
  kept?: boolean
}

export type SecretKind = "key" | "private_key" | "token" | "address" | "assigned" | "random" | "known" | "word" | "home"

export type SecretPlace = {
  seq: number
  before?: string
  after?: string
}

export type SegmentName = "header" | "session_state" | "conversation"

export type SendRequest = {
  session: string
  text: string
  command?: CommandCall
}

export type SentPrompt = {
  text: string
  at: number
  session: string
  title?: string
  folder: string
}

export type ServerAnswer = {
  id: string
  action: ServerAnswerAction
  content?: unknown
  remember?: boolean
}

export type ServerAnswerAction = "accept" | "decline" | "cancel"

export type ServerAuth = {
  kept?: boolean
  url?: string
}

export type ServerAuthoriseReply = {
  url: string
}

export type ServerCounts = {
  tools: number
  tools_off?: number
  changed?: number
  resources?: number
  prompts?: number
  tokens: number
}

export type ServerDraft = {
  name: string
  transport: string
  command?: string
  args?: string[]
  cwd?: string
  url?: string
  env?: Record<string, string>
  headers?: Record<string, string>
  secrets?: Record<string, string>
  oauth?: OAuthDraft
  proxy_id?: string
  options: ServerOptions
}

export type ServerFile = {
  path: string
  scope: Scope
  problem?: Error
}

export type ServerFinding = {
  id: ServerFindingID
  args?: string[]
  message: string
  harmless?: boolean
}

export type ServerFindingID = "not_object" | "name_empty" | "name_underscores" | "name_long" | "name_hidden" | "member" | "unknown" | "ignored" | "transport" | "type_assumed" | "nothing" | "no_command" | "no_url" | "url" | "header" | "variable_name" | "helper" | "env_file" | "trusted_ignored" | "unset" | "unset_left_out" | "input" | "secret_missing" | "secret_unread" | "secret_in_file" | "placeholder" | "takes_name" | "shadowed" | "shadows"

export type ServerHealth = {
  since?: number
  next?: number
  pid?: number
  restarts?: number
  pinged?: number
  latency_us?: number
  answered?: number
  calls?: number
  failures?: number
}

export type ServerImport = {
  draft: ServerDraft
  findings?: ServerFinding[]
  taken?: boolean
  inputs?: ServerImportInput[]
}

export type ServerImportInput = {
  id: string
  description?: string
  secret?: boolean
}

export type ServerImportReply = {
  sources?: ServerImportSource[]
}

export type ServerImportRequest = {
  path: string
  seal: string
  names?: string[]
  scope: Scope
  inputs?: Record<string, string>
}

export type ServerImportSource = {
  program: string
  path: string
  problem?: Error
  servers?: ServerImport[]
  seal?: string
}

export type ServerLogEntry = {
  at: number
  level: string
  id?: Happening
  args?: string[]
  text: string
}

export type ServerOptions = {
  trusted?: boolean
  always_shown?: boolean
  start_ms?: number
  call_ms?: number
}

export type ServerOrigin = {
  scope: Scope
  file?: string
  line?: number
}

export type ServerPeer = {
  protocol?: string
  name?: string
  version?: string
  instructions?: string
}

export type ServerPrompt = {
  name: string
  command: string
  title?: string
  description?: string
  arguments?: PromptArgument[]
}

export type ServerQuestion = {
  id: string
  server: string
  session: string
  call_id?: string
  at: number
  form?: FormQuestion
  link?: LinkQuestion
  sampling?: SamplingQuestion
}

export type ServerRequest = {
  name: string
  file?: string
  session?: string
}

export type ServerResource = {
  uri: string
  name?: string
  description?: string
  mime?: string
  template?: boolean
}

export type ServerResult = {
  server: string
  tool: string
  structured?: unknown
  fault?: string
  resources?: ResultResource[]
  unshown?: string[]
  sounds?: Media[]
}

export type ServerRow = {
  name: string
  draft: ServerDraft
  origin: ServerOrigin
  state: ServerState
  problem?: Error
  findings?: ServerFinding[]
  trust?: string
  session_off?: boolean
  auth: ServerAuth
  peer: ServerPeer
  health: ServerHealth
  counts: ServerCounts
}

export type ServerSaveRequest = {
  draft: ServerDraft
  scope: Scope
  replaces?: string
  file?: string
}

export type ServerShown = {
  server: ServerRow
  tools?: ServerTool[]
  resources?: ServerResource[]
  prompts?: ServerPrompt[]
  stderr?: string
  log?: ServerLogEntry[]
}

export type ServerState = "connected" | "connecting" | "idle" | "failed" | "needs_auth" | "off" | "untrusted" | "changed" | "refused" | "broken" | "shadowed"

export type ServerSwitchRequest = {
  server: string
  tool?: string
  session?: string
  on: boolean
}

export type ServerTestReply = {
  steps?: ServerTestStep[]
  peer: ServerPeer
  tools?: ServerTool[]
  error?: Error
  stderr?: string
}

export type ServerTestRequest = {
  draft: ServerDraft
  replaces?: string
  file?: string
}

export type ServerTestStep = {
  step: string
  ms: number
  ok: boolean
  count?: number
}

export type ServerTool = {
  name: string
  model: string
  title?: string
  description?: string
  schema?: unknown
  hints: ServerToolHints
  tokens: number
  calls?: number
  failures?: number
  offer: ServerToolOffer
  before?: ServerToolBefore
  seal?: string
}

export type ServerToolAcceptRequest = {
  server: string
  tool: string
  seal: string
}

export type ServerToolBefore = {
  diff?: string
  description?: string
  schema?: unknown
}

export type ServerToolHints = {
  read_only?: boolean
  destructive?: boolean
}

export type ServerToolOffer = {
  off?: boolean
  session_off?: boolean
  deferred?: boolean
  problem?: Error
}

export type ServersChange = {
}

export type ServersReply = {
  servers?: ServerRow[]
  files?: ServerFile[]
  waiting?: ServerQuestion[]
  tokens: number
  deferred?: boolean
}

export type ServersRequest = {
  session?: string
  no_connect?: boolean
}

export type SessionEnd = {
  state: State
}

export type SessionFilter = {
  view?: SessionView
  text?: string
  tag?: string
  pinned?: boolean
  state?: State
  model?: string
  since?: number
  until?: number
  prefix?: string
}

export type SessionInfo = {
  id: string
  title: string
  folder: string
  state: State
  settings: Settings
  created_at: number
  updated_at: number
  seq: number
  last_end?: EndReason
  usage: Usage
  context: number
  cost?: Spending
  lines?: Lines
  branch?: string
  messages: number
  prompt?: string
  marks?: SessionMarks
  origin?: ForkOrigin
  worktree?: string
  rewound?: Span[]
  uncompacted?: number[]
  skills?: SkillUse[]
  kept?: KeptAt[]
  imported?: Imported
  helper?: Helper
  damaged?: boolean
  interrupted?: boolean
}

export type SessionListRequest = {
  filter?: SessionFilter
  urgent_first?: boolean
  everywhere?: boolean
  after?: SessionPlace
  limit?: number
}

export type SessionMarks = {
  tags?: string[]
  label?: string
  pinned?: boolean
  archived?: boolean
  deleted?: number
}

export type SessionPage = {
  sessions?: SessionInfo[]
  next?: SessionPlace
}

export type SessionPlace = {
  urgent?: boolean
  updated_at: number
  id: string
}

export type SessionRef = {
  session: string
}

export type SessionStart = {
  folder: string
  version: string
  resumed?: boolean
  helper?: Helper
}

export type SessionUsage = {
  tokens: number
  cost: Spending
  requests: number
  input: number
  cache_read: number
  cache_write: number
  output: number
  reasoning: number
  cache_write_1h?: number
  charged?: Cost
  known: boolean
}

export type SessionView = "" | "archived" | "deleted" | "all"

export type SessionsChange = {
  removed: string
}

export type SetEndpointRequest = {
  id?: string
  name: string
  base_url: string
  key?: string
  no_key?: boolean
  headers?: EndpointHeader[]
  body?: string
}

export type SetKeyRequest = {
  provider: string
  key?: string
  base_url?: string
}

export type Settings = {
  provider: string
  model: string
  effort?: Effort
  mode: Mode
  thinking_tokens?: number
  fallback_provider?: string
  fallback_model?: string
  budget?: Cost
}

export type SettingsChange = {
  settings: Settings
}

export type SettingsFile = {
  path: string
  scope: Scope
  problem?: Error
  unknown?: string[]
  unaccepted?: number
  sandbox?: string
  seal?: string
}

export type ShareEnd = "revoked" | "expired" | "tunnel" | "closed" | "deleted" | "failed"

export type ShareID = {
  id: string
}

export type ShareInfo = {
  id: string
  session: string
  title: string
  reach: ShareReach
  address: string
  started_at: number
  expires_at: number
  password?: boolean
  viewers: number
  end?: ShareEnd
}

export type ShareList = {
  shares?: ShareInfo[]
  tunnel?: string
  words?: string[]
  patterns?: string[]
}

export type ShareReach = "machine" | "network" | "tunnel"

export type ShareRequest = {
  session: string
  redact: RedactPolicy
  no_output?: boolean
  no_reasoning?: boolean
  costs?: boolean
  reach?: ShareReach
  hours?: number
  password?: string
  language?: string
}

export type ShareStarted = {
  share: ShareInfo
  link: string
}

export type SideRequest = {
  purpose: Purpose
  provider: string
  model: string
  usage: Usage
  cost?: Cost
}

export type SkillCheckReply = {
  findings?: SkillFinding[]
}

export type SkillCheckRequest = {
  id?: string
  kind?: SkillKind
  name?: string
  text: string
}

export type SkillCount = {
  severity: SkillSeverity
  count: number
}

export type SkillFile = {
  path: string
  size: number
  runs?: boolean
  text?: string
}

export type SkillFileReply = {
  text: string
  binary?: boolean
  cut?: boolean
}

export type SkillFileRequest = {
  id: string
  path: string
}

export type SkillFinding = {
  skill: string
  rule: string
  title: string
  severity: SkillSeverity
  file: string
  line?: number
  message: string
  fix?: string
  args?: string[]
}

export type SkillFolder = {
  path: string
  scope: Scope
  kind: SkillKind
  missing?: boolean
  problem?: Error
  count?: number
}

export type SkillInspectReply = {
  skills?: SkillParcel[]
  seal: string
}

export type SkillInstallRequest = {
  path: string
  scope?: Scope
  names?: string[]
  seal?: string
  replace?: boolean
}

export type SkillKind = "built_in" | "skill" | "command"

export type SkillLimits = {
  limited?: boolean
  tools?: string[]
  approved?: string[]
  waits?: boolean
  denied?: string[]
  model?: string
  effort?: string
}

export type SkillParcel = {
  name: string
  description?: string
  text: string
  files?: SkillFile[]
  findings?: SkillFinding[]
  lines?: string[]
  taken?: boolean
  same?: boolean
  difference?: string
}

export type SkillPlace = {
  scope?: Scope
  folder?: string
  file?: string
  editable?: boolean
  trust?: string
  waits?: boolean
}

export type SkillRef = {
  id: string
}

export type SkillRemoved = {
  id: string
  name: string
  from: string
  at: number
}

export type SkillRow = {
  id: string
  name: string
  label?: string
  aliases?: string[]
  kind: SkillKind
  description?: string
  state: SkillState
  place: SkillPlace
  others?: string[]
  usage: SkillUsage
  weight: SkillWeight
  findings?: SkillCount[]
}

export type SkillSaveRequest = {
  id?: string
  version?: string
  text: string
  scope?: Scope
  kind?: SkillKind
  name?: string
}

export type SkillSeverity = "CRITICAL" | "HIGH" | "MEDIUM" | "LOW"

export type SkillShown = {
  row: SkillRow
  text: string
  cut?: boolean
  version: string
  findings?: SkillFinding[]
  limits: SkillLimits
  files?: SkillFile[]
  more?: number
  lines?: string[]
}

export type SkillState = "ready" | "off" | "hidden" | "untrusted" | "changed" | "refused" | "broken" | "unavailable"

export type SkillSwitchRequest = {
  id: string
  on: boolean
}

export type SkillTemplate = {
  name: string
  kind: SkillKind
  text: string
}

export type SkillTemplatesReply = {
  templates?: SkillTemplate[]
}

export type SkillTryReply = {
  prompt: string
  lines?: string[]
}

export type SkillTryRequest = {
  id?: string
  text?: string
  args?: string
}

export type SkillUsage = {
  by_user?: boolean
  by_model?: boolean
  last?: number
  count?: number
  hint?: string
  why?: string
}

export type SkillUse = {
  name: string
  file?: string
  args?: string
  limited?: boolean
  tools?: string[]
  approved?: string[]
  denied?: string[]
  provider?: string
  model?: string
  effort?: Effort
  by_user?: boolean
  agent?: boolean
  ended?: boolean
}

export type SkillWeight = {
  listed: number
  body: number
}

export type SkillsChange = {
}

export type SkillsReply = {
  skills?: SkillRow[]
  folders?: SkillFolder[]
  tokens: number
  budget: number
  unlisted?: number
  more?: boolean
  removed?: SkillRemoved[]
}

export type SkillsRequest = {
  session?: string
}

export type SlashCommand = {
  name: string
  kind: CommandKind
  description?: string
  source: string
  aliases?: string[]
  hint?: string
  arguments?: PromptArgument[]
}

export type Snapshot = {
  session: SessionInfo
  events?: Event[]
  more?: boolean
  draft: Draft
  queue?: Queued[]
}

export type Span = {
  id: string
  from: number
  to: number
  last_end?: EndReason
  skills?: SkillUse[]
}

export type SpanKind = "turn" | "request" | "tool" | "mcp" | "wait" | "hook" | "compaction"

export type Spending = {
  usd: Cost
  unknown?: number
}

export type Staged = "none" | "all"

export type State = "idle" | "processing" | "awaiting_input" | "closed" | "disabled" | "pending" | "connected" | "failed" | "needs_auth"

export type SteeringInjected = {
  text: string
  queue_id?: string
  by_loop?: boolean
  refused?: boolean
  size?: number
  typed?: string
  from?: string
  media?: Media[]
}

export type Step = {
  type: ItemType
  strategy: Strategy
  keep?: number
  files?: Record<string, string>
}

export type StepRef = {
  session: string
  call: string
}

export type StopRequest = {
  session: string
}

export type StoreState = {
  file: string
  read_only?: boolean
  checking?: boolean
  stored: number
  shown: number
  damage?: string
  lost?: LostEvents[]
  problems?: Error[]
}

export type Strategy = "none" | "drop" | "truncate" | "offload_middle" | "summarize"

export type SuggestReply = {
  rules?: SuggestedRule[]
  parts?: SuggestedRule[]
}

export type SuggestRequest = {
  session: string
  approval: string
}

export type SuggestedRule = {
  rule: string
  words: RuleWords
}

export type SymbolList = {
  symbols?: CodeSymbol[]
}

export type SymbolQuery = {
  session?: string
  query: string
}

export type TakePlan = {
  seal: string
  diff?: string
  hunks: number
  reason?: ConflictReason
  places?: number
  possible: boolean
}

export type TakeRequest = {
  session: string
  with: string
  path: string
  seal: string
  hunks?: number[]
  rest?: boolean
}

export type TaskAddress = {
  url: string
}

export type TaskChange = {
  task?: string
  printed?: boolean
}

export type TaskEdit = {
  session: string
  id?: string
  subject?: string
  description?: string
  status?: string
  owner?: string
  blocked_by?: string[]
}

export type TaskInfo = {
  session: string
  id: string
  command: string
  folder: string
  started_at: number
  ended_at?: number
  state: TaskState
  exit_code?: number
  ports?: number[]
}

export type TaskKind = "recurring" | "once" | "wakeup" | "stored"

export type TaskList = {
  tasks?: TaskInfo[]
}

export type TaskOpenRequest = {
  session: string
  task: string
  port: number
}

export type TaskOutput = {
  text: string
  begin: number
  end: number
}

export type TaskOutputRequest = {
  session: string
  task: string
  from?: number
}

export type TaskRef = {
  session: string
  task: string
}

export type TaskState = "running" | "exited" | "stopped" | "timed_out"

export type TasksRequest = {
  session?: string
}

export type TerminalInfo = {
  id: string
  number: number
  shell: string
  folder: string
  session?: string
  ended?: boolean
  exit_code?: number
}

export type TerminalList = {
  terminals?: TerminalInfo[]
}

export type TerminalOpen = {
  session?: string
  rows: number
  columns: number
}

export type TerminalPiece = {
  data?: string
  next: number
  reset?: boolean
  ended?: boolean
  exit_code?: number
}

export type TerminalRead = {
  id: string
  from: number
}

export type TerminalRef = {
  id: string
}

export type TerminalSize = {
  id: string
  rows: number
  columns: number
}

export type TerminalTyped = {
  id: string
  text: string
}

export type Test = {
  command: string
  ran?: boolean
  exit_code: number
  took_ms: number
  output?: string
  stale?: boolean
}

export type TextDelta = {
  text: string
  offset: number
}

export type TextEnd = {
  message: Message
  size?: number
  usage: Usage
  finish: Finish
  thinking_ms?: number
  provider: string
  model: string
  cost?: Cost
}

export type TextMark = {
  from: number
  to: number
}

export type TextPart = "message" | "thinking" | "input" | "output" | "prompt"

export type TextStart = {
}

export type TimeSpan = {
  id: number
  parent?: number
  kind: SpanKind
  name?: string
  start: number
  end?: number
  failed?: boolean
  call_id?: string
  provider?: string
  usage?: Usage
}

export type Title = {
  text: string
  by_user?: boolean
  by_hook?: boolean
}

export type Together = {
  session: string
  tasks?: BoardTask[]
  teams?: AgentTeam[]
  messages?: AgentMessage[]
}

export type TogetherRequest = {
  session: string
}

export type ToolCall = { id: string; wire_id?: string; name: string; arguments: string }

export type ToolCallEnd = {
  call_id: string
  tool: string
  output: string
  model_output?: string
  is_error?: boolean
  outcome: Outcome
  duration_ms: number
  size?: number
  media?: Media[]
  withheld?: boolean
  details?: Details
  authority?: Authority
  files?: FilesChanged
}

export type ToolCallOutput = {
  call_id: string
  text: string
  offset: number
}

export type ToolCallStart = {
  call_id: string
  tool: string
  input: string
}

export type ToolOrigin = {
  server: string
  tool: string
  title?: string
  description?: string
  read_only?: boolean
  destructive?: boolean
}

export type ToolResult = {
  call_id: string
  wire_id?: string
  name: string
  parts?: Part[]
  is_error?: boolean
}

export type ToolSwitch = {
  name: string
  tier: ToolTier
}

export type ToolSwitches = {
  tools?: ToolSwitch[]
}

export type ToolTier = "core" | "advanced" | "specialist"

export type TraceReply = {
  spans?: TimeSpan[]
  more?: boolean
}

export type Tree = {
  caps: Caps
  rounds: number
  tokens: number
  spent: Cost
  budget?: Cost
}

export type TriedCall = {
  session: string
  call_id: string
  tool: string
  text: string
  at: number
  asked?: boolean
  outside?: boolean
}

export type TrustAcceptRequest = {
  id: string
  seal: string
}

export type TrustNote = {
  id: string
  args?: string[]
  message: string
}

export type TrustOmission = "binary" | "long" | "missing" | "outside" | "special"

export type TrustReply = {
  items?: TrustRow[]
  more?: boolean
}

export type TrustRequest = {
  id: string
}

export type TrustRow = {
  id: string
  kind: string
  title: string
  scope: Scope
  origin: string
  line?: number
  command: string
  state: TrustState
  files?: string[]
  notes?: TrustNote[]
  blocked?: boolean
}

export type TrustShown = {
  id: string
  kind: string
  title: string
  scope: Scope
  origin: string
  line?: number
  command: string
  state: TrustState
  files?: string[]
  notes?: TrustNote[]
  blocked?: boolean
  seal: string
  texts?: TrustText[]
}

export type TrustState = "unknown" | "trusted" | "changed" | "refused" | "gone"

export type TrustText = {
  path: string
  text: string
  diff?: string
  omitted?: TrustOmission
}

export type TryReply = {
  words: RuleWords
  calls: number
  matched: number
  asked: number
  outside: number
  misses?: boolean
  examples?: TriedCall[]
}

export type TryRequest = {
  rule: string
  decision: Decision
  session?: string
  approval?: string
}

export type TurnContinued = {
}

export type TurnFacts = {
  prompt?: string
  provider?: string
  model?: string
  cost?: Spending
}

export type TurnLimit = {
  limit: string
  count: number
  budget?: Cost
  spent?: Cost
  next?: Cost
}

export type UndoApplyRequest = {
  session: string
  target: UndoTarget
  files?: UndoChoice[]
}

export type UndoChoice = {
  path: string
  seal: string
  rest?: boolean
  hunks?: number[]
}

export type UndoConflict = {
  was: string
  now: string
  would: string
}

export type UndoEffect = "nothing" | "changes" | "mode" | "removes" | "brings_back"

export type UndoFile = {
  path: string
  effect: UndoEffect
  diff?: string
  added?: number
  removed?: number
  hunks?: number
  binary?: boolean
  large?: boolean
  restorable?: boolean
  reason?: ConflictReason
  conflicts?: UndoConflict[]
  places?: number
  seal: string
}

export type UndoPreview = {
  target: UndoTarget
  files?: UndoFile[]
  more?: number
  unwatched?: boolean
  commands?: boolean
}

export type UndoPreviewRequest = {
  session: string
  target: UndoTarget
  paths?: string[]
}

export type UndoReply = {
  restored: FilesRestored
}

export type UndoTarget = {
  turn?: number
  since?: number
  newest?: boolean
  step?: StepRef
  redo?: boolean
  restoration?: string
}

export type Unkept = "large" | "full" | "unseen" | "failed" | "dropped"

export type UnsentList = {
  texts?: UnsentText[]
}

export type UnsentReply = {
  now: UnsentText
  taken: boolean
}

export type UnsentText = {
  key: string
  text: string
  revision: number
}

export type Usage = {
  input: number
  cache_read: number
  cache_write: number
  output: number
  reasoning: number
  cache_write_1h?: number
  charged?: Cost
  known: boolean
}

export type UserInput = {
  text: string
  queue_id?: string
  size?: number
  typed?: string
  skill?: SkillUse
  from?: string
  media?: Media[]
}

export type Verb = "steer" | "follow_up"

export type Warning = {
  id?: WarningID
  args?: string[]
  code: string
  message: string
}

export type WarningID = "context_full" | "context_compacts" | "context_overflow" | "window_small" | "window_set" | "prompt_cut" | "compaction_ends" | "compaction_vetoed" | "hooks_overruled" | "hook_stopped" | "prompt_refused" | "prompt_undecided" | "answer_length" | "answer_paused" | "answer_filtered" | "answer_refused" | "answer_ended" | "call_written" | "call_in_text" | "fallback" | "budget" | "cost_unknown" | "calls" | "damaged_event" | "damaged_events" | "newer_event" | "company" | "same_file" | "permission_mode_reset"

export type WatchRequest = {
  program: Program
  name: string
  version?: string
  before?: number
}

export type Watched = {
  version: string
  from: number
  pieces?: Piece[]
  total: number
  usage: Usage
  cost?: Cost
  model?: string
  at: number
  skipped?: number
}

export type Whitespace = "" | "ignore"

export type Work = {
  group: WorkGroup
  folder: string
  name: string
  session: string
  title?: string
  agent?: boolean
  model: string
  end?: EndReason
  cost: Spending
  updated_at: number
  current?: boolean
}

export type WorkGroup = "needs" | "working" | "failed" | "done"

export type WorkList = {
  work?: Work[]
  more?: number
}

export type WorktreeFate = {
  name: string
  path: string
  branch: string
  session?: string
  title?: string
  agent?: boolean
  deleted?: boolean
  size?: number
  why?: Kept
  files?: number
  bytes?: number
  examples?: string[]
  because?: string
  removed: boolean
}

export type WorktreeInfo = {
  name: string
  path: string
  branch: string
  session?: string
  title?: string
  agent?: boolean
  deleted?: boolean
  size?: number
  why?: Kept
  files?: number
  bytes?: number
  examples?: string[]
  because?: string
}

export type WorktreeRemoveRequest = {
  name: string
  all?: boolean
}

export type WorktreesReply = {
  worktrees?: WorktreeInfo[]
  limit: number
}

export type ZoomRequest = {
  percent: number
}

export interface Methods {
  "agents.kinds": { args: Empty; reply: AgentKinds }
  "agents.task": { args: TaskEdit; reply: Together }
  "agents.together": { args: TogetherRequest; reply: Together }
  "agents.tree": { args: SessionRef; reply: Tree }
  "approvals.list": { args: Empty; reply: ApprovalList }
  "aside.ask": { args: AsideRequest; reply: AsideReply }
  "attach.add": { args: AttachRequest; reply: Attached }
  "attach.read": { args: AttachedRequest; reply: AttachedFile }
  "away.dismiss": { args: SessionRef; reply: LookReply }
  "away.leave": { args: LookRequest; reply: LookReply }
  "away.look": { args: LookRequest; reply: LookReply }
  "changes.branch": { args: BranchRequest; reply: Empty }
  "changes.commit": { args: CommitRequest; reply: CommitReply }
  "changes.diff": { args: DiffRequest; reply: DiffReply }
  "changes.lines": { args: LinesRequest; reply: LinesReply }
  "changes.list": { args: ChangesRequest; reply: ChangesReply }
  "changes.propose_message": { args: ProposeRequest; reply: ProposeReply }
  "changes.put_back": { args: PutBackRequest; reply: Empty }
  "changes.stage": { args: PathsRequest; reply: Empty }
  "changes.unstage": { args: PathsRequest; reply: Empty }
  "commands.complete": { args: CompleteRequest; reply: CompleteReply }
  "commands.expand": { args: ExpandRequest; reply: ExpandReply }
  "commands.list": { args: ServersRequest; reply: CommandsReply }
  "context.compact": { args: CompactToRequest; reply: Empty }
  "context.info": { args: ContextRequest; reply: ContextInfo }
  "context.item": { args: ContextItemRequest; reply: ContextItemText }
  "context.mark": { args: ContextMarkRequest; reply: Empty }
  "context.preview": { args: CompactPreviewRequest; reply: CompactPreview }
  "context.report": { args: ContextRequest; reply: ContextReport }
  "context.room": { args: Empty; reply: RoomSettings }
  "context.setRoom": { args: RoomSettings; reply: RoomSettings }
  "context.undo": { args: CompactUndoRequest; reply: Empty }
  "conversation.answer": { args: AnswerRequest; reply: Empty }
  "conversation.breakdown": { args: ContextRequest; reply: ContextBreakdown }
  "conversation.command": { args: CommandRequest; reply: Empty }
  "conversation.compact": { args: CompactRequest; reply: Empty }
  "conversation.configure": { args: ConfigureRequest; reply: SessionInfo }
  "conversation.continue": { args: SessionRef; reply: Empty }
  "conversation.event": { args: EventRef; reply: EventReply }
  "conversation.find": { args: FindRequest; reply: FindReply }
  "conversation.history": { args: HistoryRequest; reply: HistoryReply }
  "conversation.interrupt": { args: SessionRef; reply: Empty }
  "conversation.landmark": { args: LandmarkRequest; reply: LandmarkReply }
  "conversation.open": { args: OpenRequest; reply: Snapshot }
  "conversation.send": { args: SendRequest; reply: Empty }
  "conversation.trace": { args: SessionRef; reply: TraceReply }
  "costs.summary": { args: CostsRequest; reply: CostSummary }
  "editors.check": { args: EditorCommand; reply: EditorAnswer }
  "editors.list": { args: Empty; reply: EditorList }
  "editors.try": { args: EditorCommand; reply: EditorAnswer }
  "endpoints.list": { args: Empty; reply: EndpointList }
  "endpoints.remove": { args: ProviderRef; reply: EndpointList }
  "endpoints.set": { args: SetEndpointRequest; reply: EndpointList }
  "external.check": { args: ExternalRef; reply: AgentReport }
  "external.list": { args: Empty; reply: ExternalList }
  "external.remove": { args: ExternalRef; reply: ExternalList }
  "external.set": { args: ExternalAgent; reply: ExternalList }
  "files.blame": { args: BlameRequest; reply: BlameReply }
  "files.list": { args: FilesRequest; reply: FilesReply }
  "files.open": { args: OpenFileRequest; reply: Empty }
  "files.preview": { args: PreviewRequest; reply: FilePreview }
  "files.wait": { args: FilesWaitRequest; reply: FilesWaitReply }
  "hooks.dry_run": { args: HookDryRunRequest; reply: HookDryRunReply }
  "hooks.entry": { args: HookEntryRequest; reply: HookLogEntry }
  "hooks.list": { args: HooksRequest; reply: HooksReply }
  "hooks.log": { args: HookLogRequest; reply: HookLogReply }
  "hooks.points": { args: Empty; reply: HookPointsReply }
  "hooks.preview": { args: HookSaveRequest; reply: HookPreviewReply }
  "hooks.remove": { args: HookRemoveRequest; reply: Empty }
  "hooks.replay": { args: HookReplayRequest; reply: HookLogEntry }
  "hooks.save": { args: HookSaveRequest; reply: HookRow }
  "hooks.switch": { args: HookSwitchRequest; reply: Empty }
  "hooks.templates": { args: Empty; reply: HookTemplatesReply }
  "hooks.test": { args: HookTestRequest; reply: HookLogEntry }
  "host.notify": { args: Notice; reply: Empty }
  "host.open_link": { args: LinkRequest; reply: Empty }
  "host.pick_folder": { args: PickFolderRequest; reply: PickedFolder }
  "host.zoom": { args: ZoomRequest; reply: Empty }
  "hosts.list": { args: Empty; reply: HostList }
  "keymap.get": { args: Empty; reply: KeyFile }
  "keymap.set": { args: KeyChoice; reply: KeyFile }
  "keys.list": { args: Empty; reply: KeyList }
  "keys.remove": { args: ProviderRef; reply: KeyList }
  "keys.set": { args: SetKeyRequest; reply: KeyList }
  "languages.faults": { args: FaultQuery; reply: FaultList }
  "languages.list": { args: Empty; reply: LanguageServers }
  "languages.restart": { args: LanguageRestart; reply: LanguageServers }
  "languages.stop": { args: LanguageStop; reply: LanguageServers }
  "mcp.accept_tool": { args: ServerToolAcceptRequest; reply: Empty }
  "mcp.answer": { args: ServerAnswer; reply: Empty }
  "mcp.authorise": { args: ServerRequest; reply: ServerAuthoriseReply }
  "mcp.forget": { args: ServerRequest; reply: Empty }
  "mcp.import": { args: ServerImportRequest; reply: Empty }
  "mcp.importable": { args: Empty; reply: ServerImportReply }
  "mcp.list": { args: ServersRequest; reply: ServersReply }
  "mcp.reconnect": { args: ServerRequest; reply: Empty }
  "mcp.remove": { args: ServerRequest; reply: Empty }
  "mcp.save": { args: ServerSaveRequest; reply: Empty }
  "mcp.show": { args: ServerRequest; reply: ServerShown }
  "mcp.switch": { args: ServerSwitchRequest; reply: Empty }
  "mcp.test": { args: ServerTestRequest; reply: ServerTestReply }
  "memo.add": { args: MemoNote; reply: MemoFile }
  "memo.preview": { args: MemoNote; reply: MemoFile }
  "memory.list": { args: MemoryRequest; reply: MemoryReply }
  "memory.read": { args: MemoryFileRequest; reply: MemoryText }
  "memory.save": { args: MemorySaveRequest; reply: MemoryReply }
  "memory.set": { args: MemorySettingsRequest; reply: MemoryReply }
  "models.list": { args: ModelsRequest; reply: ModelList }
  "models.local": { args: Empty; reply: ModelList }
  "models.test": { args: ModelRef; reply: ConnectionTest }
  "permissions.accept": { args: AcceptRequest; reply: Empty }
  "permissions.add": { args: AddRequest; reply: RuleEntry }
  "permissions.ledger": { args: LedgerRequest; reply: LedgerPage }
  "permissions.remove": { args: RemoveRequest; reply: Empty }
  "permissions.rules": { args: RulesRequest; reply: RulesReply }
  "permissions.suggest": { args: SuggestRequest; reply: SuggestReply }
  "permissions.suggest_for_call": { args: EventRef; reply: SuggestReply }
  "permissions.try": { args: TryRequest; reply: TryReply }
  "preferences.change": { args: PreferencesChange; reply: Preferences }
  "preferences.get": { args: Empty; reply: Preferences }
  "project.bring_over": { args: MovedFolder; reply: MovedFolder }
  "project.info": { args: Empty; reply: ProjectInfo }
  "project.leave_there": { args: MovedFolder; reply: Empty }
  "project.moved": { args: Empty; reply: MovedFolder }
  "project.take_back": { args: Empty; reply: MovedFolder }
  "projects.arrive": { args: Empty; reply: ArrivalReply }
  "projects.folders": { args: ProjectRequest; reply: FolderList }
  "projects.forget": { args: ProjectRequest; reply: ProjectList }
  "projects.list": { args: Empty; reply: ProjectList }
  "projects.open": { args: ProjectRequest; reply: OpenedProject }
  "projects.stop": { args: StopRequest; reply: Empty }
  "projects.work": { args: Empty; reply: WorkList }
  "prompts.list": { args: PromptQuery; reply: PromptList }
  "queue.add": { args: QueueAddRequest; reply: QueueReply }
  "queue.edit": { args: QueueEditRequest; reply: QueueReply }
  "queue.list": { args: SessionRef; reply: QueueReply }
  "queue.move": { args: QueueMoveRequest; reply: QueueReply }
  "queue.remove": { args: QueueRemoveRequest; reply: QueueReply }
  "queue.run": { args: SessionRef; reply: Empty }
  "sandbox.caches": { args: Empty; reply: SandboxCaches }
  "sandbox.clear": { args: Empty; reply: SandboxCaches }
  "sandbox.level": { args: Empty; reply: SandboxLevel }
  "schedules.change": { args: ScheduleChange; reply: SchedulesReply }
  "schedules.list": { args: Empty; reply: SchedulesReply }
  "sessions.branches": { args: SessionRef; reply: BranchList }
  "sessions.compare": { args: CompareRequest; reply: CompareReply }
  "sessions.compare_file": { args: CompareFileRequest; reply: CompareFileReply }
  "sessions.create": { args: Empty; reply: SessionInfo }
  "sessions.fork": { args: ForkRequest; reply: ForkReply }
  "sessions.get": { args: SessionRef; reply: SessionInfo }
  "sessions.list": { args: SessionListRequest; reply: SessionPage }
  "sessions.mark": { args: MarkRequest; reply: SessionInfo }
  "sessions.merge": { args: MergeFiles; reply: FilesRestored }
  "sessions.merge_plan": { args: MergeRequest; reply: MergePlan }
  "sessions.race": { args: RaceRequest; reply: RaceReply }
  "sessions.remove": { args: SessionRef; reply: RemoveReply }
  "sessions.rename": { args: RenameRequest; reply: SessionInfo }
  "sessions.runs": { args: SessionRef; reply: RunsReply }
  "sessions.search": { args: SearchRequest; reply: Found }
  "sessions.take": { args: TakeRequest; reply: FilesRestored }
  "share.list": { args: Empty; reply: ShareList }
  "share.revoke": { args: ShareID; reply: ShareList }
  "share.start": { args: ShareRequest; reply: ShareStarted }
  "skills.check": { args: SkillCheckRequest; reply: SkillCheckReply }
  "skills.file": { args: SkillFileRequest; reply: SkillFileReply }
  "skills.inspect": { args: SkillInstallRequest; reply: SkillInspectReply }
  "skills.install": { args: SkillInstallRequest; reply: SkillsReply }
  "skills.list": { args: SkillsRequest; reply: SkillsReply }
  "skills.reload": { args: Empty; reply: SkillsReply }
  "skills.remove": { args: SkillRef; reply: Empty }
  "skills.restore": { args: SkillRef; reply: Empty }
  "skills.save": { args: SkillSaveRequest; reply: SkillRef }
  "skills.show": { args: SkillRef; reply: SkillShown }
  "skills.switch": { args: SkillSwitchRequest; reply: Empty }
  "skills.templates": { args: Empty; reply: SkillTemplatesReply }
  "skills.try": { args: SkillTryRequest; reply: SkillTryReply }
  "store.accept": { args: Empty; reply: StoreState }
  "store.health": { args: Empty; reply: StoreState }
  "symbols.find": { args: SymbolQuery; reply: SymbolList }
  "tasks.list": { args: TasksRequest; reply: TaskList }
  "tasks.open": { args: TaskOpenRequest; reply: TaskAddress }
  "tasks.output": { args: TaskOutputRequest; reply: TaskOutput }
  "tasks.stop": { args: TaskRef; reply: TaskInfo }
  "terminal.close": { args: TerminalRef; reply: Empty }
  "terminal.list": { args: Empty; reply: TerminalList }
  "terminal.open": { args: TerminalOpen; reply: TerminalInfo }
  "terminal.read": { args: TerminalRead; reply: TerminalPiece }
  "terminal.resize": { args: TerminalSize; reply: Empty }
  "terminal.write": { args: TerminalTyped; reply: Empty }
  "tools.list": { args: Empty; reply: ToolSwitches }
  "transcripts.found": { args: FoundRequest; reply: FoundReply }
  "transcripts.import": { args: ImportRequest; reply: ImportReply }
  "transcripts.progress": { args: Empty; reply: ImportProgress }
  "transcripts.read": { args: ExportPart; reply: ExportBytes }
  "transcripts.review": { args: ExportRequest; reply: ExportReview }
  "transcripts.save": { args: ExportRequest; reply: Exported }
  "transcripts.search": { args: ForeignQuery; reply: ForeignHits }
  "transcripts.stop_import": { args: Empty; reply: Empty }
  "transcripts.watch": { args: WatchRequest; reply: Watched }
  "trust.accept": { args: TrustAcceptRequest; reply: Empty }
  "trust.list": { args: Empty; reply: TrustReply }
  "trust.refuse": { args: TrustRequest; reply: Empty }
  "trust.revoke": { args: TrustRequest; reply: Empty }
  "trust.show": { args: TrustRequest; reply: TrustShown }
  "undo.apply": { args: UndoApplyRequest; reply: UndoReply }
  "undo.bring_back": { args: BringBackRequest; reply: Empty }
  "undo.preview": { args: UndoPreviewRequest; reply: UndoPreview }
  "undo.resend": { args: ResendRequest; reply: Empty }
  "undo.rewind": { args: RewindRequest; reply: RewindReply }
  "unsent.list": { args: Empty; reply: UnsentList }
  "unsent.set": { args: UnsentText; reply: UnsentReply }
  "websearch.get": { args: Empty; reply: SearchState }
  "websearch.set": { args: SearchChange; reply: SearchState }
  "worktrees.list": { args: Empty; reply: WorktreesReply }
  "worktrees.remove": { args: WorktreeRemoveRequest; reply: WorktreeFate }
}
