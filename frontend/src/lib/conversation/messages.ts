import { translator } from '../i18n/i18n.svelte'

export const messages = {
  en: {
    comma: ', ',
    turn_read: '{n} read',
    turn_searched: { one: '{n} search', other: '{n} searches' },
    turn_changed: '{n} changed',
    turn_ran: { one: '{n} command', other: '{n} commands' },
    turn_agents: { one: '{n} agent', other: '{n} agents' },
    turn_asked: { one: '{n} question', other: '{n} questions' },
    turn_other: { one: '{n} other call', other: '{n} other calls' },
    turn_failed: '{n} failed',
    turn_nothing: 'Answered',
    tests_failed: 'tests failed',
    tests_passed: 'tests passed',
    group_read: 'read {n}',
    group_searched: 'searched {n}',
    group_ran: 'ran {n}',
    group_other: { one: '{n} other call', other: '{n} other calls' },
    group_failed: '{n} failed',
  },
  'zh-CN': {
    comma: '，',
    turn_read: '读取 {n} 个文件',
    turn_searched: '搜索 {n} 次',
    turn_changed: '改动 {n} 个文件',
    turn_ran: '运行 {n} 条命令',
    turn_agents: '{n} 个智能体',
    turn_asked: '询问 {n} 次',
    turn_other: '其他调用 {n} 次',
    turn_failed: '失败 {n} 次',
    turn_nothing: '已回答',
    tests_failed: '测试未通过',
    tests_passed: '测试通过',
    group_read: '读取 {n} 个文件',
    group_searched: '搜索 {n} 次',
    group_ran: '运行 {n} 条命令',
    group_other: '其他调用 {n} 次',
    group_failed: '失败 {n} 次',
  },
} as const

export const own = translator(messages)
