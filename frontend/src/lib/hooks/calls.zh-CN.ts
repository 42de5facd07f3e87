import type { Translated } from '../i18n/i18n.svelte'
import type { messages } from './calls'

export const zhCN: Translated<typeof messages> = {
  running: '钩子 {hook} 正在运行',
  denied: '{hook} 拒绝了它',
  changed: '{hook} 修改了它',
  failed: '{hook} 失败',
  log: '在钩子日志中显示',
  denied_by: '被钩子 {hook} 拒绝。',
  ended: '钩子 {hook} 结束了这个回合：{why}',
  asked_why: '钩子 {hook} 要求先询问你：{why}',
  allowed: '由钩子 {hook} 允许。',
  changed_to: '钩子 {hook} 把输入改为：',
  failed_why: '钩子 {hook} 失败：{why}',
  told: '钩子 {hook} 告诉模型：',
  said_to: '钩子 {hook} 说：',
}
