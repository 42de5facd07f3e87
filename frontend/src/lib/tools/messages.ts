import { translator } from '../i18n/i18n.svelte'

export const messages = {
  en: {
    structured: 'Data',
    fault: 'The data does not match the tool’s own schema: {fault}',
    resources: 'Resources',
    link: 'linked',
    sound: 'Sound {n}',
    no_sound: 'It cannot be played here.',
    unshown: 'The agent was not shown: {kinds}.',
    no_arguments: 'No arguments.',
    skill_begun: 'The agent began the skill {skill}',
    skill_ended: 'The agent ended the skill {skill}',
    skill_all: 'any tool',
    skill_only: 'only {tools}',
    skill_none: 'no tools',
    skill_but: 'all tools but {tools}',
    skill_model: '{model} answers',
    more_tools: { one: '{n} more', other: '{n} more' },
  },
  'zh-CN': {
    structured: '数据',
    fault: '数据与工具自己声明的结构不符：{fault}',
    resources: '资源',
    link: '链接',
    sound: '音频 {n}',
    no_sound: '无法在此播放。',
    unshown: '未展示给智能体的内容：{kinds}。',
    no_arguments: '没有参数。',
    skill_begun: '智能体开始使用技能 {skill}',
    skill_ended: '智能体结束了技能 {skill}',
    skill_all: '任何工具',
    skill_only: '只允许 {tools}',
    skill_none: '不允许任何工具',
    skill_but: '除 {tools} 以外的所有工具',
    skill_model: '由 {model} 回答',
    more_tools: '另外 {n} 个',
  },
} as const

export const own = translator(messages)
