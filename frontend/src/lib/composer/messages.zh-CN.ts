import type { Translated } from '../i18n/i18n.svelte'
import type { messages } from './messages'

export const zhCN: Translated<typeof messages> = {
  commands: '命令',
  values: '{argument} 的值',
  offered: '{n} 个命令。用方向键选择，用 Tab 采用。',
  files: '文件',
  offered_files: '{n} 个文件。用方向键选择，用 Tab 采用。',
  more: '还有更多；继续输入以缩小范围',
  of: '来自 {server}',
  skill_of: '技能，位于 {file}',
  skill_built_in: '内置技能',
  alias: '等同于 /{skill}',
  hides_skill: '页面自带，优先于同名技能',
  skill_waits: '技能不用于引导。它会在智能体完成后开始。',
  in_use: '正在使用技能 {skill}',
  in_use_limits: '正在使用技能 {skill}：{limits}',
  until_input: '直到你发送下一条消息',
  until_end: '直到智能体结束它，或你发送下一条消息',
  missing: '缺少 {argument}。请在命令后输入。',
  editing: '正在编辑之前的消息。发送后，对话会回到那条消息之前。',
  end_edit: '取消编辑',
}
