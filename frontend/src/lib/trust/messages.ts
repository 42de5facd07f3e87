import { translator } from '../i18n/i18n.svelte'

export const messages = {
  title: 'What may this project run?',
  new_ones: {
    one: 'This project wants to run {n} program of its own.',
    other: 'This project wants to run {n} programs of its own.',
  },
  more_ones: {
    one: 'This project wants to run {n} program of its own. A file has more hooks than are read.',
    other:
      'This project wants to run {n} programs of its own. A file has more hooks than are read.',
  },
  own_ones: {
    one: '{n} program of yours would run files of this project.',
    other: '{n} programs of yours would run files of this project.',
  },
  mixed_ones: {
    one: '{n} program that is this project’s, or runs its files, wants to run.',
    other: '{n} programs that are this project’s, or run its files, want to run.',
  },
  changed_ones: {
    one: '{n} program that you trusted has changed.',
    other: '{n} programs that you trusted have changed.',
  },
  until: {
    one: 'It does not run until you say so.',
    other: 'None of them runs until you say so.',
  },
  until_changed: {
    one: 'Until you say so, you are asked about what it guards.',
    other: 'Until you say so, you are asked about what they guard.',
  },
  and_more: { one: 'and {n} more', other: 'and {n} more' },
  review: 'Review…',
  later: 'Not now',
  never: 'Never',
  trust: 'Trust exactly this',
  next: 'Look at the next',
  trust_all: 'Trust all that was shown',
  all_hint: 'Look at each of them first.',
  all_seen: 'You have seen each of them.',
  revoke: 'Revoke trust',
  review_title: 'May this run?',
  review_changed: 'May this still run?',
  place: '{n} of {of}',
  stands: 'It is defined in {file}.',
  runs: 'Command',
  files: 'Files of the project that it runs',
  definition: 'Definition',
  unchanged: 'as you trusted it',
  differs: 'changed since you trusted it',
  gone: 'The file is gone.',
  blocked: 'It cannot be trusted as it is.',
  omitted_binary: 'Not shown: the file is not text.',
  omitted_long: 'Not shown: the file is too long.',
  omitted_missing: 'There is no such file.',
  omitted_outside: 'Not shown: a link leads out of the project.',
  omitted_special: 'Not shown: it is not a file that can be read.',
  state_trusted: 'You trust it as it stands now.',
  state_refused: 'You decided that it never runs.',
  means_server:
    'It is started, or reached, with your rights and outside any confinement, and it gets what the agent sends to its tools. You are asked again when it or a file that it runs changes.',
  means:
    'It runs with your rights, outside of any confinement, each time its event happens. You are asked again when it or a file that it runs changes.',
  means_skill:
    'Until you trust it, it is offered to nobody. Once you do, it is offered to you and to the agent, and your rules decide about what it runs, as about any command. You are asked again when it or one of its files changes.',
  means_agent:
    'Until you trust it, no model can start this agent. Once you do, its hooks run with your rights, outside of any confinement, while such an agent works. You are asked again when its file changes.',
  means_language:
    'It tells models about the code of the project, and runs confined and without a network while it is needed. Until you trust it, a built-in choice or a search with patterns takes its place. You are asked again when it or a file that it runs changes.',
  loading: 'Reading what would run…',
  show_all: 'Show the whole file',
} as const

export const own = translator('trust/messages', messages)
