import { translator } from '../i18n/i18n.svelte'

export const messages = {
  en: {
    structured: 'Data',
    fault: 'The data is not as the tool’s own schema says: {fault}',
    resources: 'Resources',
    link: 'linked',
    unshown: 'The agent was not shown: {kinds}.',
    no_arguments: 'No arguments.',
  },
  'zh-CN': {
    structured: '数据',
    fault: '数据与工具自己的模式不符：{fault}',
    resources: '资源',
    link: '链接',
    unshown: '未展示给智能体的内容：{kinds}。',
    no_arguments: '没有参数。',
  },
} as const

export const own = translator(messages)
