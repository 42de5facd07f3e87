/** What the cards of the web show (agent/fetch has the same in Go). All of it is a stranger's. */
import { argumentsOf } from './json'

/** A link; the page of a search also has an excerpt, and says when it is from. */
export type Link = { text: string; url: string; excerpt?: string; age?: string }
export type SearchCard = { engine: string; hits: readonly Link[] }
export type FetchCard = {
  url: string
  title: string
  status: number
  type: string
  bytes: number
  links: readonly Link[]
  /** The address on another host to which the page leads. */
  redirect: string
  cached: boolean
  /** The model that answered the prompt. */
  model: string
}

export type BrowserCard = {
  url: string
  title: string
  status: number
  /** What went wrong on the page since the call before. */
  trouble: readonly string[]
}

/** Whether an address may be opened by a press: no scheme but the web's can be. */
export const opens = (url: string) => /^https?:\/\//i.test(url)

const text = (value: unknown) => (typeof value === 'string' ? value : '')
const number = (value: unknown) => (typeof value === 'number' ? value : 0)

function linksOf(value: unknown): Link[] {
  if (!Array.isArray(value)) return []
  return value
    .map((it: Record<string, unknown>) => ({ text: text(it?.text), url: text(it?.url) }))
    .filter(({ url }) => opens(url))
}

/** The card of a page; undefined if there is none. */
export function fetchCardOf(card: unknown): FetchCard | undefined {
  if (typeof card !== 'object' || card === null) return undefined
  const all = card as Record<string, unknown>
  return {
    url: text(all.url),
    title: text(all.title),
    status: number(all.status),
    type: text(all.type),
    bytes: number(all.bytes),
    links: linksOf(all.links),
    redirect: text(all.redirect),
    cached: all.cached === true,
    model: text(all.model),
  }
}

/** The card of a page in the browser; undefined if there is none. */
export function browserCardOf(card: unknown): BrowserCard | undefined {
  if (typeof card !== 'object' || card === null) return undefined
  const { url, title, status, trouble } = card as Record<string, unknown>
  const lines = Array.isArray(trouble) ? trouble.filter((it) => typeof it === 'string') : []
  return { url: text(url), title: text(title), status: number(status), trouble: lines }
}

/** The card of a search; undefined if there is none. */
export function searchCardOf(card: unknown): SearchCard | undefined {
  if (typeof card !== 'object' || card === null) return undefined
  const { engine, hits } = card as Record<string, unknown>
  const found = Array.isArray(hits) ? (hits as (Record<string, unknown> | null)[]) : []
  return {
    engine: text(engine),
    hits: found
      .map((it) => ({
        text: text(it?.title),
        url: text(it?.url),
        excerpt: text(it?.excerpt),
        age: text(it?.age),
      }))
      .filter(({ url }) => opens(url)),
  }
}

/** What the agent wants to know from a page; empty if it reads the page itself. */
export const promptOf = (input: string): string => text(argumentsOf(input).prompt)
