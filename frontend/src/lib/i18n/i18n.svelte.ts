import { duration, elapsed } from '../model/format'
import { withoutBidi } from '../model/visible'
import { en, type Key, type Message } from './en'
import type * as fromGo from './problems.zh-CN'
import type { reasons } from './reasons.zh-CN'

export type Language = 'en' | 'zh-CN' | 'ja' | 'es'
export const languages: Record<Language, string> = {
  en: 'English',
  'zh-CN': '简体中文',
  ja: '日本語',
  es: 'Español',
}

/** The messages of a part of the page in another language. */
export type Translated<Own> = { readonly [K in keyof Own]: Message }

/**
 * The messages of a language that has one file, by the file that has the English ones. What is missing is
 * shown in English, and so is what Go reports.
 */
export type Texts = Record<string, Record<string, Message>>

/** All texts in Chinese. English is part of the program; Chinese is loaded by those who read it. */
export type Chinese = {
  /** The messages, by the file that has the English ones, such as "search/messages". */
  messages: Record<string, Record<string, Message>>
  /** What Go reports. */
  fromGo: typeof fromGo
  reasons: typeof reasons
}

let current = $state<Language>('en')
/** The messages of the languages that were loaded. */
let texts = $state.raw<Partial<Record<Language, Texts>>>({})
let chinese = $state.raw<Chinese>()
let load: () => Promise<Chinese> = () => Promise.reject(new Error('no Chinese was provided'))
let others: Partial<Record<Language, () => Promise<Texts>>> = {}
let changes = 0

/** Says how the Chinese texts are loaded. main.ts calls it before the page is drawn. */
export const provideChinese = (how: typeof load) => (load = how)

/** Says how the other languages are loaded. */
export const provideOthers = (how: typeof others) => (others = how)

export const language = (): Language => current

/** The Chinese texts, if the page is in Chinese. */
export const translation = (): Chinese | undefined => (current === 'zh-CN' ? chinese : undefined)

/**
 * Sets the language. Empty selects the system's language if there are messages for it. The language
 * stays as it is, and the promise fails, if the texts cannot be loaded.
 */
export async function setLanguage(wanted: string | undefined): Promise<void> {
  const name = wanted || navigator.language
  const known = Object.keys(languages) as Language[]
  const next = known.find((it) => it.slice(0, 2) === name.toLowerCase().slice(0, 2)) ?? 'en'
  const change = ++changes
  const other = others[next]
  if (next === 'zh-CN') chinese ??= await load()
  else if (other && !texts[next]) texts = { ...texts, [next]: await other() }
  if (change !== changes) return // another language was chosen meanwhile
  current = next
  document.documentElement.lang = current
}

/**
 * Returns a function that looks up the messages of one part of the page, whose file is named as in
 * {@link Chinese.messages}. It takes the key of a message and the values of its {placeholders}, of which `n`
 * selects the plural.
 */
export function translator<K extends string>(file: string, own: Record<K, Message>) {
  return (key: K, values: Record<string, string | number> = {}): string => {
    const there = translation()?.messages ?? texts[current]
    const message = (there?.[file]?.[key] ?? own[key]) as Message
    const text = typeof message === 'string' ? message : message[plural(values.n)]
    return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
      const value = values[name]
      return typeof value === 'number' ? value.toLocaleString(current) : (value ?? whole)
    })
  }
}

/** Looks up the shared messages, which do not belong to a single part of the page. */
export const t = translator<Key>('i18n/en', en)

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

/** How long something took, and how long it has run, with the language's units. */
export const tookWords = (ms: number): string => duration(ms, current)
export const runsWords = (ms: number): string => elapsed(ms, current)
