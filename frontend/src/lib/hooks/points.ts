import { translator } from '../i18n/i18n.svelte'
import type { HookPoint } from '../types.gen'

export const messages = {
  'name.setup': 'When a project is opened',
  'name.sessionStart': 'When a session starts',
  'name.userPromptSubmit': 'When you send a message',
  'name.preToolUse': 'Before a tool call',
  'name.permissionRequest': 'Before you are asked',
  'name.permissionDenied': 'After a call was denied',
  'name.postToolUse': 'After a tool call',
  'name.postToolUseFailure': 'After a call that failed',
  'name.postSampling': 'After an answer from the model',
  'name.stop': 'When a turn ends',
  'name.subagentStart': 'When an agent starts',
  'name.subagentStop': 'When an agent ends',
  'name.teammateIdle': 'When an agent waits',
  'name.taskCreated': 'When a background command starts',
  'name.taskCompleted': 'When a background command ends',
  'name.notification': 'When you are told something',
  'name.configChange': 'After settings changed',
  'name.cwdChanged': 'When the folder changes',
  'name.fileChanged': 'After a file changed',
  'name.worktreeCreate': 'After a worktree was made',
  'name.worktreeRemove': 'After a worktree was removed',
  'name.preCompact': 'Before a compaction',
  'name.postCompact': 'After a compaction',
  'name.sessionEnd': 'When a session ends',

  'moment.setup': 'when the project was opened',
  'moment.sessionStart': 'when the session started',
  'moment.userPromptSubmit': 'for a message',
  'moment.preToolUse': 'before {tool}',
  'moment.permissionRequest': 'before a question about {tool}',
  'moment.permissionDenied': 'after {tool} was denied',
  'moment.postToolUse': 'after {tool}',
  'moment.postToolUseFailure': 'after {tool} failed',
  'moment.postSampling': 'after an answer',
  'moment.stop': 'at the end of a turn',
  'moment.subagentStart': 'when an agent started',
  'moment.subagentStop': 'when an agent ended',
  'moment.teammateIdle': 'when an agent came to rest',
  'moment.taskCreated': 'when a background command started',
  'moment.taskCompleted': 'when a background command ended',
  'moment.notification': 'when you were told something',
  'moment.configChange': 'after settings changed',
  'moment.cwdChanged': 'when the folder changed',
  'moment.fileChanged': 'after a file changed',
  'moment.worktreeCreate': 'after a worktree was made',
  'moment.worktreeRemove': 'after a worktree was removed',
  'moment.preCompact': 'before a compaction',
  'moment.postCompact': 'after a compaction',
  'moment.sessionEnd': 'when the session ended',

  'docs.setup': 'Runs once before the first session of a folder begins in this program.',
  'docs.sessionStart':
    'Runs with the first message after a session was opened. The model is told what it prints.',
  'docs.userPromptSubmit':
    'Runs before the model is asked about your message. It can refuse the message, or add to it.',
  'docs.preToolUse':
    'Runs before a call is decided. It can deny the call, have Atelier ask you, allow it or change its input.',
  'docs.permissionRequest': 'Runs before you are asked about a call. It can answer in your place.',
  'docs.permissionDenied': 'Runs after a call was denied.',
  'docs.postToolUse':
    'Runs after a call that succeeded. The model is told what it says, along with the result.',
  'docs.postToolUseFailure':
    'Runs after a call that failed. The model is told what it says, along with the result.',
  'docs.postSampling': 'Runs after each complete answer from the model.',
  'docs.stop': 'Runs when a turn is about to end. It can have the turn continue.',
  'docs.subagentStart': 'Runs when an agent begins its work.',
  'docs.subagentStop': 'Runs when an agent is about to end. It can have the agent continue.',
  'docs.teammateIdle': 'Runs when an agent is at rest and waits.',
  'docs.taskCreated': 'Runs when a background command begins.',
  'docs.taskCompleted': 'Runs after a background command has ended.',
  'docs.notification': 'Runs when you are notified: a question waits, or a turn has ended.',
  'docs.configChange': 'Runs after settings changed.',
  'docs.cwdChanged': 'Runs when a command uses another folder than the one before it.',
  'docs.fileChanged': 'Runs after a file changed that the matcher names.',
  'docs.worktreeCreate':
    'Runs after a git worktree was made for an agent or a fork, before it is used. It may refuse the worktree.',
  'docs.worktreeRemove': 'Runs after such a worktree was removed.',
  'docs.preCompact': 'Runs before a compaction. It can prevent it, or say what to keep.',
  'docs.postCompact': 'Runs after a compaction. The model is told what it says.',
  'docs.sessionEnd': 'Runs before a session is closed.',
} as const satisfies Record<`${'name' | 'moment' | 'docs'}.${HookPoint}`, string>

const own = translator('hooks/points', messages)

export const pointName = (point: HookPoint): string => own(`name.${point}`)

/** When hooks of a point run, and what they can do. */
export const pointDocs = (point: HookPoint): string => own(`docs.${point}`)

/** When a hook of a point was considered. The tool is that of the call that it was about. */
export const moment = (point: HookPoint, tool = ''): string => own(`moment.${point}`, { tool })
