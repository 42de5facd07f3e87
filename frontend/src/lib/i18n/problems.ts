/** What failures are called where the page does not speak English, in which Go words them. */
import { fill } from './fill'
import { language } from './i18n.svelte'
import { problems, type Words } from './problems.zh-CN'

/** A failure of Go's, or, without an id, one of the page's own or of an older log. */
export type Problem = {
  id?: string
  args?: readonly string[]
  code?: string
  message: string
  kept?: string
  next?: string
  details?: string
}

const saved = '到这里为止的内容都已保存。'

/** Of a provider's answer, by the class of its error. */
const ofTheProvider: Record<string, Words> = {
  auth: { message: '服务商不接受密钥。', next: '请在“设置 → 密钥”中检查密钥，然后重试。' },
  permission: { message: '密钥无权使用这个模型。', next: '请选择其他模型，或检查密钥的权限。' },
  not_found: { message: '服务商没有这个模型。', next: '请选择其他模型。' },
  invalid: { message: '服务商拒绝了请求。' },
  rate_limit: { message: '请求过于频繁，服务商暂时拒绝。', next: '请稍候重试，或选择其他模型。' },
  quota: { message: '账户的额度已用完。', next: '请检查在服务商处的方案，或选择其他模型。' },
  overloaded: { message: '服务商暂时过载。', next: '请稍候重试，或选择其他模型。' },
  server: { message: '服务商的服务器出错。', next: '请稍候重试，或选择其他模型。' },
  timeout: { message: '服务商没有及时回答。', next: '请检查网络连接和地址，然后重试。' },
  network: { message: '无法连接到服务商。', next: '请检查网络连接和地址，然后重试。' },
  truncated: { message: '回答在结束之前中断了。', next: '请重试。' },
  content_filter: { message: '服务商的内容过滤拒绝了请求。' },
  context_overflow: {
    message: '会话超出了模型的上下文窗口。',
    next: '请压缩会话、新建会话，或选择窗口更大的模型。',
  },
  config: { message: '服务商没有正确配置。', next: '请在“设置 → 密钥”中检查。' },
  unsupported: { message: '这个服务商或模型不支持所请求的功能。', next: '请选择其他模型。' },
  too_large: { message: '回答超出了大小限制，已被停止。' },
}

/** Of warnings, by their codes. */
const ofWarnings: Record<string, string> = {
  context: '会话快要占满模型的上下文窗口，或已经过长。',
  length: '回答达到了模型的长度限制。请让它继续，以得到其余部分。',
  budget: '会话的预算所剩不多。',
  cost_unknown: '这个模型的价格未知，费用无法计算。',
  fallback: '所选的模型没有回答，这次请求由备用模型完成。',
  damaged:
    '此处的内容在磁盘上已损坏或缺失，无法显示。会话的其余内容仍在，没有做任何更改。如需找回，请恢复 Atelier 数据的备份。',
  hooks: '一个钩子影响了这次操作。',
  mode_reset: '在 Atelier 退出之前，本会话允许一切操作。现在恢复先询问。',
  content_filter: '服务商的内容过滤结束了回答。',
  refusal: '模型拒绝继续回答。',
}

/** What to do in this window about a failure of a provider's. Go's own words know of no window. */
const nextHere: Record<string, string> = {
  auth: 'Check the key in Settings → Keys, then try again.',
  permission: 'Choose another model, or check the provider in Settings → Keys.',
  not_found: 'Choose another model, or check the provider in Settings → Keys.',
  config: 'Choose another model, or check the provider in Settings → Keys.',
}

const find = (id: string | undefined): Words | undefined =>
  id && Object.hasOwn(problems, id) ? (problems as Record<string, Words>)[id] : undefined

/** A failure in the page's language. */
export function problemWords(problem: Problem, from: 'application' | 'provider'): Problem {
  if (language() === 'en') {
    const code = problem.code ?? ''
    const here = from === 'provider' && !problem.id && Object.hasOwn(nextHere, code)
    return here ? { ...problem, next: nextHere[code] } : problem
  }
  const words = find(problem.id)
  if (words) {
    const { message, kept, next } = words
    const said = (sentence?: string) => sentence && fill(sentence, problem.args)
    return { ...problem, message: fill(message, problem.args), kept: said(kept), next: said(next) }
  }
  const known = from === 'provider' && Object.hasOwn(ofTheProvider, problem.code ?? '')
  if (!known) return problem
  return { ...problem, kept: saved, ...ofTheProvider[problem.code!]! }
}

/** A warning in the page's language. */
export const warningWords = (code: string, message: string): string =>
  language() === 'en' || !Object.hasOwn(ofWarnings, code) ? message : ofWarnings[code]!
