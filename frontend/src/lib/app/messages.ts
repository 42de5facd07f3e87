import { translator } from '../i18n/i18n.svelte'

export const messages = {
  title_waiting: '▲ Needs you · {title}',
  title_running: '● running · {title}',
  title_failed: '✕ failed · {title}',
  notice_waiting: 'Needs you · {project}',
  notice_done: 'Done · {project}',
  notice_failed: 'Failed · {project}',
  slash_help: 'Shows the keyboard shortcuts and the version',
  slash_sessions: 'Goes to the list of sessions',
  slash_new: 'Starts a new session',
  slash_clear: 'Starts a new session with an empty context and keeps this one',
  slash_usage: 'Shows the usage and the cost of the session',
  slash_context: 'Shows what fills the context',
  slash_model: 'Chooses another model',
  slash_undo: 'Undoes what the newest turn changed in files',
  slash_redo: 'Brings back what was undone last',
  slash_rewind: 'Goes back to before the newest message',
  slash_exit: 'Closes this window',
  slash_compact: 'Summarises the older part of the conversation',
  slash_btw: 'Asks about the conversation, and leaves it as it is',
  slash_fork: 'Copies the session into a new one',
  slash_export: 'Saves the session as a document',
  slash_init: 'Writes a prompt for an AGENTS.md of this project',
  init_prompt:
    'Look through this project and write AGENTS.md, or improve the one that is there: what a coding agent needs to know to work here. Name the commands that build, test and check it, the structure, and the conventions that the code does not show. Keep it short.',
  slash_remember: 'Remembers something for all sessions',
  slash_history: 'Finds a message that you sent earlier',
} as const

export const own = translator('app/messages', messages)
