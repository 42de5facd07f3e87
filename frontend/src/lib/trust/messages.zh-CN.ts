import type { Translated } from '../i18n/i18n.svelte'
import type { messages } from './messages'

export const zhCN: Translated<typeof messages> = {
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
  next: '查看下一项',
  trust_all: '信任所有已查看的内容',
  all_hint: '请先逐项查看。',
  all_seen: '每一项都已查看。',
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
  means_agent:
    '在你信任之前，任何模型都不能启动此智能体。信任之后，此类智能体工作时，其钩子会以你的权限、不受任何限制地运行。其文件更改后，会再次询问你。',
  means_language:
    '它把项目代码的信息告诉模型，只在需要时运行，受到限制，也不能联网。在你信任之前，由内置的服务器或文本模式搜索代替。当它或它运行的文件有更改时，会再次询问你。',
  loading: '正在读取将要运行的内容…',
  show_all: '显示整个文件',
}
