import { translator } from '../i18n/i18n.svelte'

export const messages = {
  en: {
    commands: 'Commands',
    values: 'Values of {argument}',
    offered: {
      one: '{n} command. Arrow keys choose, Tab takes.',
      other: '{n} commands. Arrow keys choose, Tab takes.',
    },
    more: 'and more; type to narrow them down',
    of: 'from {server}',
    missing: '{argument} is missing. Type it after the command.',
    editing:
      'You are editing an earlier message. Sending it takes the conversation back to before it.',
    end_edit: 'Cancel editing',
  },
  'zh-CN': {
    commands: '命令',
    values: '{argument} 的值',
    offered: '{n} 个命令。用方向键选择，用 Tab 采用。',
    more: '还有更多；继续输入以缩小范围',
    of: '来自 {server}',
    missing: '缺少 {argument}。请在命令后输入。',
    editing: '正在编辑之前的消息。发送后，对话会回到那条消息之前。',
    end_edit: '取消编辑',
  },
} as const

export const own = translator(messages)
