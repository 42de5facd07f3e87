import { translator } from '../i18n/i18n.svelte'

export const messages = {
  en: {
    label: 'Find in the conversation',
    count: '{at} of {n}',
    count_more: '{at} of more than {n}',
    none: 'Not found',
    taken_back: '{n} rewound',
    searching: 'Searching…',
    next: 'Next match (F3)',
    previous: 'Previous match (Shift+F3)',
    close: 'Close (Esc)',
  },
  'zh-CN': {
    label: '在对话中查找',
    count: '第 {at} 处，共 {n} 处',
    count_more: '第 {at} 处，共超过 {n} 处',
    none: '未找到',
    taken_back: '另有 {n} 处已撤回',
    searching: '正在查找…',
    next: '下一处（F3）',
    previous: '上一处（Shift+F3）',
    close: '关闭（Esc）',
  },
} as const

export const own = translator(messages)
