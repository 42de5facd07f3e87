import { translator } from '../i18n/i18n.svelte'

export const messages = {
  commands: 'Commands',
  values: 'Values of {argument}',
  offered: {
    one: '{n} command. Arrow keys choose, Tab takes.',
    other: '{n} commands. Arrow keys choose, Tab takes.',
  },
  files: 'Files',
  offered_files: {
    one: '{n} file. Arrow keys choose, Tab takes.',
    other: '{n} files. Arrow keys choose, Tab takes.',
  },
  more: 'and more; type to narrow them down',
  of: 'from {server}',
  skill_of: 'skill in {file}',
  skill_built_in: 'built-in skill',
  alias: 'the same as /{skill}',
  hides_skill: 'built in, takes precedence over the skill',
  skill_waits: 'A skill does not steer. It begins when the agent is done.',
  in_use: '{skill} is in use',
  in_use_limits: '{skill} is in use: {limits}',
  until_input: 'Until your next message',
  until_end: 'Until the agent ends it, or your next message',
  missing: '{argument} is missing. Type it after the command.',
  editing:
    'You are editing an earlier message. Sending it takes the conversation back to before it.',
  end_edit: 'Cancel editing',
  attach: 'Attach files',
  attach_hint: 'Attach pictures and files; paste or drop them, too',
  attached: 'Attached files',
  detach: 'Remove {name}',
  unfold: 'Put the text of {name} into the message',
  copying: 'Copying {name}…',
  drop: 'Drop files to attach them',
  picture: 'The picture',
  pasted_name: 'pasted text.txt',
  blind: '{model} takes no pictures. It is told only that they are there.',
  refused_folder: '{name} is a folder. Mention it with @ instead.',
  refused_many: '{name} was not attached: a message takes at most 20 files.',
  refused_empty: '{name} is empty, so it was not attached.',
  refused_unreadable:
    '{name} cannot be shown to models ({type}). Save it as PNG or JPEG and attach that.',
} as const

export const own = translator('composer/messages', messages)
