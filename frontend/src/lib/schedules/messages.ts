import { translator } from '../i18n/i18n.svelte'

export const messages = {
  empty:
    'Nothing is scheduled. Ask the agent to do something later, such as “look at the build every hour”: it is listed here, and so is what became of each time.',
  tasks: 'Tasks',
  tasks_of: '{n} of at most {limit}',
  times: 'What ran',
  no_times: 'No time has come yet.',
  only_open: 'They run while Atelier is open. Times that pass meanwhile are listed as missed.',
  next: 'next {time}',
  paused: 'paused',
  on_demand: 'runs when it is told to',
  by: 'by {schedule}',
  once: 'once',
  wakeup: 'wake-up',
  in_session: 'in “{title}”',
  run: 'Run {name} now',
  pause: 'Pause {name}',
  resume: 'Let {name} run again',
  delete: 'Delete {name}',
  delete_title: 'Delete “{name}”?',
  delete_body: 'It does not run again. What it has done stays.',
  delete_now: 'Delete',
  prompt: 'Prompt',
  out_running: 'running',
  out_done: 'done',
  out_failed: 'failed',
  out_missed: 'missed: Atelier was not open, or the machine slept',
  out_busy: 'left out: the session was at work',
  out_held: 'held back: the session allows everything without asking, and nobody was there',
  out_cut: 'cut off: Atelier was closed',
  and_more: 'and {n} earlier ones',
  open_session: 'Open the session',
} as const

export const own = translator('schedules/messages', messages)
