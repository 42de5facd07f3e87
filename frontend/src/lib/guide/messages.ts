import { translator } from '../i18n/i18n.svelte'

export const messages = {
  label: 'First steps',
  lead: 'Three steps to your first answer. Press Shift+F6 in the message field to come back here.',
  done: 'done',
  failed: 'does not work',
  connect: 'Connect a model',
  connect_body:
    'Enter the key of a provider that you have an account with. It is sent only to that provider.',
  connected: 'Your messages go to {model}.',
  change: 'Change the key or the provider…',
  more: 'Another provider or endpoint…',
  local: 'Look on this machine',
  looking: 'Looking for model servers…',
  no_local: 'No model server runs at its usual port on this machine.',
  use: 'Use {model} from {provider}',
  tour: 'Show me around',
  tour_hint: 'No key yet? A scripted tour: offline, in this folder, with real tools.',
  modes: 'Know what it may do',
  modes_undo:
    'Nothing is final: /undo takes back what a turn did to files, E on an earlier message sends it anew, F forks the conversation there, and the menu beside its title exports it.',
  modes_hint: 'You choose this below the message field (Shift+Tab there), for each session.',
  go_on: 'Go on',
  ask: 'Ask a first question',
  ask_body: 'These only read files. Or write your own below.',
  explain: 'Explain how this project is built',
  explain_prompt:
    'Explain how this project is built: its main parts, how they work together, and where somebody new should start to read. Only read; change nothing.',
  run: 'Find out how to run it and its tests',
  run_prompt:
    'Find out how to build and run this project and how to run its tests. Give me the commands and what they need. Only read; run nothing and change nothing.',
  recent_changes: 'What changed lately?',
  recent_changes_prompt:
    'What changed in this project lately? Read the newest commits and sum up what was done and why, the most important first. Only read; change nothing.',
  open_ends: 'What looks unfinished?',
  open_ends_prompt:
    'What looks unfinished in this project? Read it and list the most important gaps, each with its place in the files. Only read; change nothing.',
  hide: 'Do not show this again',
  hide_hint: 'You can bring it back under About in Settings.',
  asking: 'Step 3 of 3: your first answer is on its way. Stop ends it at any time.',
  paused: 'The first steps are not finished.',
  resume: 'Go on with them',
} as const

export const own = translator('guide/messages', messages)
