import type { Translated } from '../i18n/i18n.svelte'
import type { messages } from './messages'

export const zhCN: Translated<typeof messages> = {
  title: '附带提问',
  about: '根据当前对话回答，不使用工具。对话会照常继续，就像没有问过一样；只有费用会记入账目。',
  question: '问题',
  ask: '提问',
  asked: '你问：{question}',
  answering: '{model} 正在阅读对话…',
  cost: '{model} · {spent}',
}
