/** Translates why a call needs approval. Go has the English sentences. */
import type { ApprovalRequest, ReasonCode } from '../types.gen'
import { markHidden } from '../model/visible'
import { fill } from './fill'
import { language } from './i18n.svelte'

const inChinese: Record<ReasonCode, string> = {
  tool_off: '工具 {0} 在这里已停用。',
  never_asks: '这个模式从不询问。',
  controls: '{0} 能让其他程序运行代码，因此更改它总是需要你同意。',
  secret: '{0} 可能含有机密信息，而读到的内容会发送给模型的服务商。',
  own_folder: '{0} 位于 Atelier 存放自身数据的文件夹中，任何工具都不能访问。',
  outside: '{0} 位于项目之外。',
  leads_outside: '{0} 指向 {1}，后者位于项目之外。',
  command: '命令可以更改你的用户账户能够更改的任何内容。',
  command_reads: '这条命令只读取项目中的内容。',
  changes: '这会更改 {0}。',
  changes_two: '这会更改 {0} 和另外 1 个文件。',
  changes_more: '这会更改 {0} 和另外 {1} 个文件。',
  reads: '这只读取项目中的内容。',
  own: '这只涉及本会话自己启动的内容。',
  confined: '这条命令在限制中运行：只能写入项目，只能访问设置允许的地址。',
  unconfined: '这条命令要求不受限制地运行：它将可以修改你能修改的任何文件，并访问网络。',
  unforeseen: '无法预知工具 {0} 会做什么。',
  rule_denies: '规则 {0} 拒绝了它。',
  rule_asks: '规则 {0} 要求先询问你。',
  rule_unsure: '无法判断规则 {0} 是否适用于此。',
  rule_allows: '规则 {0} 允许了它。',
  rules_unread: '{0} 中的规则无法读取，因此其他规则未允许的命令都会先询问。',
  skill: '技能 {0} 正在使用中，它允许的工具是：{1}。',
  callback_denied: '运行本会话的程序拒绝了它。{0}',
  callback_asks: '运行本会话的程序要求先询问你。{0}',
  callback_allowed: '运行本会话的程序允许了它。{0}',
  hook_refused: '有钩子拒绝了这次调用：{0}',
  hook_wants_asked: '有钩子要求先询问你。{0}',
  hook_allowed: '有钩子允许了这次调用。{0}',
}

type Reason = Pick<ApprovalRequest, 'reason' | 'reason_code' | 'reason_args'>

/** The reason of a request in the page's language, with hidden characters made visible. */
export function reasonWords({ reason, reason_code: code, reason_args: args = [] }: Reason): string {
  if (language() === 'en' || !code || !Object.hasOwn(inChinese, code)) return markHidden(reason)
  return markHidden(fill(inChinese[code], args))
}
