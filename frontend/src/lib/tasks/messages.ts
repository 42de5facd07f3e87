import { translator } from '../i18n/i18n.svelte'

export const messages = {
  empty:
    'Commands that the agent leaves running, such as a server or a watcher, are listed here with what they print.',
  name: 'task {id}',
  show: 'Show in the panel',
  running: 'running',
  stopping: 'Stopping…',
  exited: 'exit {code}',
  stopped: 'stopped',
  timed_out: 'ended at its time limit',
  session_ended: 'ended with the session',
  became: '{command}: {state}',
  by_agent: 'by {title}',
  stop: 'Stop',
  stop_named: 'Stop {command}',
  open: 'Open :{port}',
  open_named: 'Open :{port} of {command} in the browser',
  output: 'Output of {command}',
  earlier: 'Earlier output is not shown.',
} as const

export const own = translator('tasks/messages', messages)
