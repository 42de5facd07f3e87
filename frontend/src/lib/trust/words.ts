import { fill } from '../i18n/fill'
import { language } from '../i18n/i18n.svelte'
import { markHidden } from '../model/visible'
import type { TrustNote, TrustRow } from '../types.gen'

/** What Go says about what would run, in Chinese. */
const inChinese: Record<string, string> = {
  untold:
    '{0} 运行什么，只有运行时才知道。已检查其中写明的文件，以及项目中存放钩子的文件夹里的文件。',
  unread: '命令无法读取：{0}。已检查其中写明的文件，以及项目中存放钩子的文件夹里的文件。',
  inline: '{0} 的代码可能加载未经检查的文件。',
  build: '{0} 会运行项目中其他文件所写的内容，那些文件未经检查。',
  loads: '{0} 运行的内容可能加载项目中的其他文件。除存放钩子的文件夹里的文件外，它们未经检查。',
  outside: '{0} 指向项目之外的 {1}，那里的内容未经检查。',
  hidden: '{0} 含有看不见的字符，或会改变文字顺序的字符。',
  special: '{0} 不是可以读取的普通文件，因此无从知道会运行什么。',
  large: '{0} 太大，无法检查。',
  variables: '它会得到你的这些变量的值：{0、}。',
  secrets: '它会得到你为 {0、} 输入的密钥。',
  takes_name: '它会取代 {0} 中的同名服务器，针对那个服务器的规则也适用于它。',
  many: '要检查的文件超过 {0} 个或 {1} MB。请把脚本移到文件较少的文件夹中。',
}

export function noteWords({ id, args, message }: TrustNote): string {
  const isKnown = language() === 'zh-CN' && Object.hasOwn(inChinese, id)
  return markHidden(isKnown ? fill(inChinese[id]!, args) : message)
}

/** The words in which the items ask: whose they are, and what happens until somebody decides. */
export function asking(
  items: readonly Pick<TrustRow, 'kind' | 'scope' | 'state'>[],
  more: boolean,
) {
  const isNew = items.some(({ state }) => state === 'unknown')
  const own = items.filter(({ scope }) => scope === 'user').length
  // The user's own hooks guard already. Servers guard nothing: until they are trusted, they are not started.
  const guards = items.some(
    ({ kind, scope, state }) => kind === 'hook' && (scope === 'user' || state === 'changed'),
  )
  const projects = more ? 'more_ones' : 'new_ones'
  return {
    who: !isNew
      ? 'changed_ones'
      : own === 0
        ? projects
        : own === items.length
          ? 'own_ones'
          : 'mixed_ones',
    until: guards && (!isNew || own === items.length) ? 'until_changed' : 'until',
  } as const
}
