import type { Translated } from '../i18n/i18n.svelte'
import type { messages } from './messages'

export const zhCN: Translated<typeof messages> = {
  label: '入门步骤',
  lead: '三步得到第一个回答。在输入框中按 Shift+F6 可来到这里。',
  done: '已完成',
  failed: '不可用',
  connect: '连接模型',
  connect_body: '输入你所用服务商的密钥。密钥只会发送给该服务商。',
  connected: '消息将发送给 {model}。',
  change: '更改密钥或提供商…',
  more: '其他服务商或端点…',
  local: '在本机上查找',
  looking: '正在查找模型服务…',
  no_local: '本机的常用端口上没有运行模型服务。',
  use: '使用 {provider} 的 {model}',
  tour: '带我看看',
  tour_hint: '还没有密钥？脚本演示：离线运行，就在这个文件夹里，使用真实的工具。',
  modes: '了解它可以做什么',
  modes_undo:
    '一切都可以反悔：/undo 撤销一个回合对文件的更改；在之前的消息上按 E 可修改后重发，按 F 可从那里创建分支；标题旁的菜单可以导出对话。',
  modes_hint: '可在输入框下方为每个会话选择（在输入框中按 Shift+Tab）。',
  go_on: '继续',
  ask: '提出第一个问题',
  ask_body: '以下问题只需读取文件。你也可以在下方自己写。',
  explain: '说明这个项目的结构',
  explain_prompt:
    '请说明这个项目的结构：主要组成部分、它们如何协作，以及新人应该从哪里开始阅读。只读取，不要更改任何内容。',
  run: '弄清如何运行它和它的测试',
  run_prompt:
    '请弄清如何构建和运行这个项目，以及如何运行测试。给出命令和所需的条件。只读取，不要运行命令，也不要更改任何内容。',
  recent_changes: '最近有哪些改动？',
  recent_changes_prompt:
    '这个项目最近有哪些改动？请阅读最新的提交，总结做了什么、为什么这样做，最重要的放在前面。只读取，不要更改任何内容。',
  open_ends: '哪些地方还没有完成？',
  open_ends_prompt:
    '这个项目有哪些地方看起来还没有完成？请阅读后列出最重要的缺漏，并注明在文件中的位置。只读取，不要更改任何内容。',
  hide: '不再显示',
  hide_hint: '可在设置的“关于”中重新显示。',
  asking: '第 3 步，共 3 步：第一个回答正在生成。随时可以停止。',
  paused: '入门步骤还没有完成。',
  resume: '继续完成',
}
