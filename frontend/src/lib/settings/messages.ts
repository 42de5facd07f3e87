import { translator } from '../i18n/i18n.svelte'

export const messages = {
  store: 'Sessions of all projects, including those of agents',
  store_all: { one: '{n} session.', other: '{n} sessions.' },
  store_counts: '{stored} stored and {shown} shown when the program started.',
  store_checking: 'The whole database is being checked.',
  store_kept:
    'Atelier never deletes one by itself. Before it changes the database’s format, it copies the database into the folder backups there and keeps the newest three copies.',
  websearch: 'Web search',
  websearch_hint: 'What the agent searches the web with. Its queries go to this service.',
  websearch_automatic: 'Automatic',
  websearch_automatic_hint: 'The first that is set up, else the model’s provider',
  websearch_provider: 'The model’s provider',
  websearch_off: 'None',
  websearch_off_hint: 'The agent does not search',
  websearch_ready: 'Set up',
  websearch_not_ready: 'Not set up yet',
  websearch_key: 'Key for {name}',
  websearch_key_hint: 'It is stored like the keys above. The variable {variable} works as well.',
  websearch_key_kept: 'A key is stored. A new one replaces it.',
  websearch_from: 'The key is in the variable {variable}.',
  websearch_address: 'Address of {name}',
  websearch_address_hint:
    'Such as https://search.example.org. The instance has to answer in JSON (search.formats).',
  patience: 'Wait for a silent model',
  patience_hint:
    'After so long without a sign of life, a request is given up and sent again. A server on this machine needs time to load a model and to read a long prompt.',
  patience_automatic: 'Automatic',
  patience_automatic_hint: '2 to 5 minutes, 30 for a server on this machine',
  patience_minutes: '{n} min',
  search: 'Search the settings',
  search_results: 'Settings that match',
  search_found: { one: '{n} setting matches.', other: '{n} settings match.' },
  search_none: 'No setting matches “{wanted}”.',
  search_key: 'API key and address',
  editor_tab: 'Editor',
  editor: 'Editor',
  editor_hint: 'Opens a file of the project at its line, from the conversation and from changes.',
  editor_automatic: 'Automatic',
  editor_automatic_is: '{name} is used now.',
  editor_none: 'No editor with a window was found.',
  editor_own: 'Your own command',
  editor_other: 'A command of your own…',
  editor_change: 'Change your command…',
  editor_command: 'Command',
  editor_command_hint:
    'A program and its arguments, with {file} and {line} where they belong. No shell runs it; quotation marks keep spaces together.',
  editor_use: 'Use',
  editor_try: 'Open a file to test it',
  editor_opened: '{name} was asked to open {path}.',
  commands_tab: 'Commands',
  confine_intro:
    'The operating system limits what a confined command can do, whatever the command contains. This applies to background commands too, but not to those that you type yourself. The mode Auto confines commands without this switch.',
  confine: 'Confine commands in every mode',
  confine_hint:
    'They write only in the project, cannot read your keys, and have no network unless a settings file lists hosts. Git commands change the repository, but not its settings and hooks; other commands leave it as it is. The files that tell other programs what to run stay as they are.',
  confine_whole: 'Fully supported on this system ({means}).',
  confine_part: 'This works here in part: {why}',
  confine_none: 'This does not work here: {why}',
  confine_missing: 'this build of Atelier lacks the program that it takes.',
  confine_refused:
    'the system does not allow namespaces to be made. Its administrator can change that.',
  confine_kernel: 'this kernel lacks the necessary features.',
  confine_unsupported: 'this system has no means to do it.',
  confine_processes:
    'they see the other programs that run, and what they leave running may outlive them.',
  confine_mounts:
    'namespaces cannot be made, and the kernel’s Landlock takes their place. Commands see the other programs that run, can change modes and times of files that they may not write, create nothing directly in the project’s folder, cannot be limited to single hosts, and what they leave running may outlive them.',
  confine_signals:
    'namespaces cannot be made, and the kernel’s Landlock takes their place. Commands see the other programs that run and can end them, can change modes and times of files that they may not write, create nothing directly in the project’s folder, cannot be limited to single hosts, and what they leave running may outlive them.',
  confine_reads: 'only what commands write is confined, not what they read or reach.',
  confine_weaker: 'the settings accept a weaker form, for use in a container.',
  confine_stops: 'As long as it does not work, commands do not run at all.',
  confine_by_file: 'A settings file turned it on.',
  confine_broken:
    'A settings file cannot be read. Until it is repaired, you are asked about confined commands, they reach no host, and no command runs unconfined.',
  confine_hosts: 'Commands reach {hosts} and nothing else.',
  confine_hosts_stop:
    'A settings file lists hosts, which can be enforced only in namespaces. Until these can be made or the list is gone, commands do not run.',
  confine_no_hosts: 'Commands reach no network.',
  confine_free: 'Run confined commands without asking',
  confine_free_hint:
    'Except those that would destroy work in the project. Rules that deny or ask still apply, and so does plan mode.',
  confine_outside: 'Let a command ask to run unconfined',
  confine_outside_hint: 'You decide, or a rule of yours that names the command.',
  confine_caches: 'Caches of confined commands',
  confine_caches_hint:
    'Compilers and package managers keep files here that only confined commands use. Beyond {most}, the oldest are deleted. So is everything that was unused for 60 days.',
  confine_caches_size: 'They take {size} in all projects.',
  confine_caches_none: 'There are none.',
  confine_caches_measured: 'They are being measured…',
  confine_caches_clear: 'Delete caches',
  language_servers: 'Use language servers',
  language_servers_hint:
    'Servers that are installed, such as gopls or pyright, tell models where symbols are defined and used, and what is wrong after an edit. They run confined, without a network, while they are needed. Without them, models search with patterns.',
  guide: 'Show the first steps',
  diagrams: 'Diagrams',
  diagrams_hint:
    'Ask for a Mermaid diagram, such as “Draw the parts and what they call”. “Show diagram” above the code in the answer draws it, without a network.',
  servers: 'How MCP servers add tools',
  servers_hint:
    'A server of the Model Context Protocol is a program on this machine or an address on the web that offers tools, prompts and resources. Add or import one in the panel MCP servers, which tests it first. Servers of a project start only once you trust exactly what their file says. The panel shows each connection as it is now, why it failed, and how many tokens each tool takes of a request; tools that take too much are found by a search instead. Only you can switch servers and tools on and off. A tool that its server changed waits until you accept the change. You are asked about calls of servers’ tools like about any other. Prompts of servers are commands: type / in the message field. What a server asks you is pinned above that field.',
  hooks: 'Hooks and trust',
  hooks_hint:
    'A hook is a program that runs at a point of a session, such as before each tool call. The panel Hooks lists them, shows what each did and why, and writes new ones. What a project wants to run waits until you have seen it and trust it, and you are asked again when it changes. docs/guide/hooks.md describes the events and what a hook may answer.',
  skills: 'Skills and commands',
  skills_hint:
    'A skill is a file of instructions that you or the agent put to use; a command from a file is one that only you use. Type / and its name in the message field, and after it whatever it is to work on. The conversation shows what you typed, and the prompt that was sent below it. While a skill is in use, a line above the message field says which tools it allows, and all other calls are refused until your next message. The panel Skills shows where they come from, and what keeps one from being used.',
  contrast: 'High contrast',
  contrast_hint: 'Text and lines stand out more, in the light and in the dark theme.',
  font_interface: 'Interface font',
  font_interface_hint: 'For everything but code.',
  font_code: 'Code font',
  font_code_hint: 'For code, diffs, commands and their output.',
  font_size_of: '{name}, size',
  font_pixels: '{n} px',
  font_usual: 'Default',
  font_system: 'The system’s font',
  font_other: 'Another font…',
  font_name: 'Name of an installed font',
  font_use: 'Use',
  font_absent: 'This page does not find a font of this name.',
  font_refused: 'A font’s name has letters, digits, spaces and - _ . + &.',
  font_preview: 'Preview',
  font_sample: 'The quick brown fox jumps over 13 lazy dogs. 敏捷的棕色狐狸',
  font_reset: 'Use the default fonts and sizes',
  notices: 'Notifications',
  notices_on: 'Notify on the desktop',
  notices_hint:
    'Only while this window is not in front, and only about a state that lasts three seconds. A notification contains the session’s title and nothing else from it.',
  notices_waiting: 'When a session needs you',
  notices_done: 'When a session is done',
  notices_failed: 'When a session fails',
  notices_ask: 'This browser has not been asked yet whether Atelier may show notifications.',
  notices_allow: 'Ask the browser…',
  notices_denied:
    'This browser blocks notifications from this page. Allow them in the browser’s settings for this page.',
  notices_absent:
    'This browser shows no notifications. The page’s title still says when a session needs you.',
} as const

export const own = translator('settings/messages', messages)
