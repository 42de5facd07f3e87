import { translator } from '../i18n/i18n.svelte'

export const messages = {
  en: {
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
    loading: 'Reading what would run…',
    show_all: 'Show the whole file',
  },
  'zh-CN': {
    title: '这个项目可以运行什么？',
    new_ones: '这个项目要运行 {n} 个自带的程序。',
    more_ones: '这个项目要运行 {n} 个自带的程序。有文件包含的钩子多于所读取的数量。',
    own_ones: '你的 {n} 个程序要运行这个项目里的文件。',
    mixed_ones: '有 {n} 个程序要运行：它们是这个项目自带的，或者要运行其中的文件。',
    changed_ones: '你信任过的 {n} 个程序有更改。',
    until: '在你同意之前，它们都不会运行。',
    until_changed: '在你同意之前，它守护的调用都会先询问你。',
    and_more: '以及另外 {n} 个',
    review: '查看…',
    later: '暂不',
    never: '从不',
    trust: '仅信任以上内容',
    revoke: '不再信任',
    review_title: '这个可以运行吗？',
    review_changed: '这个还可以运行吗？',
    place: '第 {n} 个，共 {of} 个',
    stands: '位于 {file}。',
    runs: '命令',
    files: '它运行的项目文件',
    definition: '定义',
    unchanged: '与你信任时相同',
    differs: '在你信任之后有更改',
    gone: '文件已不存在。',
    blocked: '按目前的样子无法信任它。',
    omitted_binary: '未显示：文件不是文本。',
    omitted_long: '未显示：文件太长。',
    omitted_missing: '没有这个文件。',
    omitted_outside: '未显示：链接指向项目之外。',
    omitted_special: '未显示：它不是可以读取的文件。',
    state_trusted: '你信任它目前的样子。',
    state_refused: '你决定它从不运行。',
    means_server:
      '它以你的权限、在任何限制之外启动或连接，并得到智能体发给其工具的内容。当它或它运行的文件有更改时，会再次询问你。',
    means:
      '每次其事件发生时，它都会以你的权限、不受任何限制地运行。它或它运行的文件更改后，会再次询问你。',
    means_skill:
      '在你信任之前，不会提供给任何人。信任之后，会提供给你和智能体，它所运行的内容与任何命令一样由你的规则决定。当它或它的文件有更改时，会再次询问你。',
    loading: '正在读取将要运行的内容…',
    show_all: '显示整个文件',
  },
} as const

export const own = translator(messages)
