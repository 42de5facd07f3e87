/**
 * What failures are called where the page does not speak English, in which Go words them. Go's own
 * sentences go into the details: they name what the code cannot.
 */
import type { Code } from '../types.gen'
import { language } from './i18n.svelte'

export type Problem = {
  code?: string
  message: string
  kept?: string
  next?: string
  details?: string
}

type Words = Pick<Problem, 'message' | 'kept' | 'next'>

/** Of the application, by its codes. */
const ofTheApplication: Record<Code, Words> = {
  internal: { message: 'Atelier 内部出错。', kept: '到目前为止显示的内容都已保存。' },
  invalid: { message: '这个请求无法执行。', kept: '没有做任何更改。' },
  not_found: { message: '找不到所请求的内容。', kept: '没有做任何更改。' },
  busy: {
    message: '会话正在工作。',
    kept: '没有发送或更改任何内容。',
    next: '请等它完成，或先停止它。',
  },
  folder: { message: '无法使用项目文件夹。', kept: '没有做任何更改。' },
  store_locked: {
    message: '数据库正被另一个程序占用。',
    kept: '已保存的内容仍在。',
    next: '请关闭占用它的程序，然后重试。',
  },
  store_corrupt: {
    message: '数据库中有损坏的数据。',
    kept: '损坏之外的内容仍可读取，没有覆盖任何数据。',
  },
  store_newer: {
    message: '数据库由更新版本的 Atelier 写入。',
    kept: '没有做任何更改。',
    next: '请用该版本打开。',
  },
  store_failed: {
    message: '无法读取或写入数据库。',
    kept: '已保存的内容仍在。',
    next: '请检查磁盘空间和权限，然后重试。',
  },
  store_unusable: { message: '无法打开数据库。', kept: '没有做任何更改。' },
  no_model: {
    message: '所选的模型目前无法使用。',
    kept: '你的消息仍在输入框中。',
    next: '请在工具栏选择模型，或在“设置 → 密钥”中完成配置。',
  },
  key_unavailable: {
    message: '无法读取或保存密钥。',
    kept: '原有的密钥没有更改。',
    next: '请解锁密钥环，然后重试。',
  },
  key_needed: {
    message: '现有的密钥属于另一个地址，不会发送到这里。',
    kept: '没有任何更改。',
    next: '请输入此地址的密钥，或先移除旧密钥。',
  },
}

const saved = '到这里为止的内容都已保存。'

/** Of a provider's answer, by the class of its error. */
const ofTheProvider: Record<string, Words> = {
  auth: { message: '提供商不接受密钥。', next: '请在“设置 → 密钥”中检查密钥，然后重试。' },
  permission: { message: '密钥无权使用这个模型。', next: '请选择其他模型，或检查密钥的权限。' },
  not_found: { message: '提供商没有这个模型。', next: '请选择其他模型。' },
  invalid: { message: '提供商拒绝了请求。' },
  rate_limit: { message: '请求过于频繁，提供商暂时拒绝。', next: '请稍候重试，或选择其他模型。' },
  quota: { message: '账户的额度已用完。', next: '请检查在提供商处的方案，或选择其他模型。' },
  overloaded: { message: '提供商暂时过载。', next: '请稍候重试，或选择其他模型。' },
  server: { message: '提供商的服务器出错。', next: '请稍候重试，或选择其他模型。' },
  timeout: { message: '提供商没有及时回答。', next: '请检查网络连接和地址，然后重试。' },
  network: { message: '无法连接到提供商。', next: '请检查网络连接和地址，然后重试。' },
  truncated: { message: '回答在结束之前中断了。', next: '请重试。' },
  content_filter: { message: '提供商的内容过滤拒绝了请求。' },
  context_overflow: {
    message: '会话超出了模型的上下文窗口。',
    next: '请压缩会话、新建会话，或选择窗口更大的模型。',
  },
  config: { message: '提供商没有正确配置。', next: '请在“设置 → 密钥”中检查。' },
  unsupported: { message: '这个提供商或模型不支持所请求的功能。', next: '请选择其他模型。' },
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
  content_filter: '提供商的内容过滤结束了回答。',
  refusal: '模型拒绝继续回答。',
}

/** A failure in the page's language. */
export function problemWords(problem: Problem, from: 'application' | 'provider'): Problem {
  if (language() === 'en' || !problem.code) return problem
  const tables = [ofTheApplication, ofTheProvider] as Record<string, Words>[]
  if (from === 'provider') tables.reverse()
  const table = tables.find((words) => Object.hasOwn(words, problem.code!))
  const words = table?.[problem.code]
  if (!words) return problem
  const original = [problem.message, problem.kept, problem.next].filter(Boolean).join(' ')
  return {
    code: problem.code,
    kept: table === ofTheProvider ? saved : undefined,
    ...words,
    details: [original, problem.details].filter(Boolean).join('\n'),
  }
}

/** A warning in the page's language. */
export const warningWords = (code: string, message: string): string =>
  language() === 'en' || !Object.hasOwn(ofWarnings, code) ? message : ofWarnings[code]!
