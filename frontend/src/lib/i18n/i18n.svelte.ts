import { en, type Key, type Message } from './en'
import { zhCN } from './zh-CN'

export type Language = 'en' | 'zh-CN'
export const languages: Record<Language, string> = { en: 'English', 'zh-CN': '简体中文' }

const messages: Record<Language, Record<Key, Message>> = { en, 'zh-CN': zhCN }

let current = $state<Language>('en')

export const language = (): Language => current

/** Empty selects the system's language where there are messages for it. */
export function setLanguage(wanted: string | undefined): void {
  const name = wanted || navigator.language
  current = name.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en'
  document.documentElement.lang = current
}

/**
 * What gives the messages of one part of the page. It takes the key of a message and the values of
 * its {placeholders}, of which `n` selects the plural.
 */
export function translator<K extends string>(own: Record<Language, Record<K, Message>>) {
  return (key: K, values: Record<string, string | number> = {}): string => {
    const message = own[current][key]
    const text = typeof message === 'string' ? message : message[plural(values.n)]
    return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
      const value = values[name]
      return typeof value === 'number' ? value.toLocaleString(current) : (value ?? whole)
    })
  }
}

/** Gives the messages that no single part of the page owns. */
export const t = translator<Key>(messages)

/** Sentences one after the other; Chinese ones have no space between them. */
export const sentences = (...all: (string | undefined)[]): string =>
  all.filter(Boolean).join(current === 'zh-CN' ? '' : ' ')

const plural = (n: string | number | undefined) =>
  new Intl.PluralRules(current).select(Number(n)) === 'one' ? 'one' : 'other'
