import type { Translated } from '../i18n/i18n.svelte'
import type { messages } from './messages'

export const zhCN: Translated<typeof messages> = {
  tokens: '词元',
  share: '占比',
  kind_fresh: '新输入',
  kind_cache_read: '读取缓存',
  kind_cache_write: '写入缓存',
  kind_output: '输出',
  kind_reasoning: '推理',
  partly: '有些请求没有报告词元数，因此这些是最小值。',
  turn: '回合',
  turn_name: '第 {n} 回合',
  agent: '智能体',
  own: '此会话本身',
  apart: '智能体的费用在各自的行中，不计入回合。',
  purpose: '用途',
  purpose_turn: '回合',
  purpose_title: '标题',
  purpose_suggestion: '建议',
  purpose_subagent: '智能体',
  purpose_summary: '总结',
  purpose_commit: '提交说明',
  purpose_sampling: '服务器的请求',
  chart_day: '每日费用，从 {from} 到 {to}。最高 {most}。',
  chart_turn: '各回合费用，从第 {from} 回合到第 {to} 回合。最高 {most}。',
  more: '再显示 {n} 行',
}
