import { withoutBidi } from '../model/visible'
import { en, type Key, type Message } from './en'
import { zhCN } from './zh-CN'

export type Language = 'en' | 'zh-CN'
export const languages: Record<Language, string> = { en: 'English', 'zh-CN': '简体中文' }

const messages: Record<Language, Record<Key, Message>> = { en, 'zh-CN': zhCN }

let current = $state<Language>('en')

export const language = (): Language => current

/** Sets the language. Empty selects the system's language if there are messages for it. */
export function setLanguage(wanted: string | undefined): void {
  const name = wanted || navigator.language
  current = name.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en'
  document.documentElement.lang = current
}

/**
 * Returns a function that looks up the messages of one part of the page. It takes the key of a message
 * and the values of its {placeholders}, of which `n` selects the plural.
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

/** Looks up the shared messages, which do not belong to a single part of the page. */
export const t = translator<Key>(messages)

/** Joins sentences. Chinese sentences are not separated by spaces. */
export const sentences = (...all: (string | undefined)[]): string =>
  all.filter(Boolean).join(current === 'zh-CN' ? '' : ' ')

/** Names or phrases as a list, separated as the language does it. */
export const listed = (items: readonly string[]): string =>
  new Intl.ListFormat(current, { style: 'narrow' }).format(items)

/** A label and its value, separated by the language's colon. */
export const labelled = (label: string, value: string): string =>
  `${label}${current === 'zh-CN' ? '：' : ': '}${value}`

const plural = (n: string | number | undefined) =>
  new Intl.PluralRules(current).select(Number(n)) === 'one' ? 'one' : 'other'

/** The title of a session for people, in which nothing reorders the text around it. */
export const titled = (title: string | undefined): string =>
  withoutBidi(title ?? '') || t('session.untitled')
