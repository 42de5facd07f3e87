import type { Translated } from '../i18n/i18n.svelte'
import type { messages } from './messages'

export const zhCN: Translated<typeof messages> = {
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
  skill_approves: '无需询问：{tools}',
  skill_none: '不允许任何工具',
  skill_but: '除 {tools} 以外的所有工具',
  skill_model: '由 {model} 回答',
  more_tools: '另外 {n} 个',
  todo_pending: '待办：',
  todo_in_progress: '进行中：',
  todo_completed: '已完成：',
  todo_cancelled: '已放弃：',
  no_answer: '没有回答',
  plan_edited: '你在批准之前编辑了这份计划。',
}
