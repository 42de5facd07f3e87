import { expect, test } from 'vitest'
import type { Envelope, Preferences, RecentProject, SessionInfo, Settings } from '../types.gen'
import { Guide } from './guide.svelte'

const real: Settings = { provider: 'openai', model: 'm', mode: 'default' }
const demo: Settings = { provider: 'demo', model: 'tour', mode: 'default' }

type User = {
  guide?: string
  damaged?: boolean
  demoOnly?: boolean
  sessions?: number
  others?: number
  settings?: Settings
}

function guideOf(user: User) {
  let preferences = $state.raw({ guide: user.guide, damaged: user.damaged } as Preferences)
  let settings = $state.raw(user.settings ?? demo)
  let composed = 0
  const session = (id: string, settings: Settings) => ({ id, settings }) as SessionInfo
  const guide = new Guide({
    get preferences() {
      return preferences
    },
    get settings() {
      return settings
    },
    catalog: { demoOnly: user.demoOnly ?? true, isScript: (provider) => provider === 'demo' },
    sessions: {
      list: Array.from({ length: user.sessions ?? 0 }, (_, at) => session(`s${at}`, demo)),
      find: (id) => ({ real: session('real', real), demo: session('demo', demo) })[id],
    },
    projects: {
      load: () => Promise.resolve(),
      list: [
        { current: true } as RecentProject,
        ...Array.from({ length: user.others ?? 0 }, () => ({}) as RecentProject),
      ],
    },
    prefer: (change) => {
      preferences = { ...preferences, ...change }
      return Promise.resolve()
    },
    compose: () => composed++,
  })
  return { guide, connect: () => (settings = real), composed: () => composed }
}

const ended = (session: string, reason: string) =>
  ({ session, events: [{ kind: 'processing_end', data: { reason } }] }) as unknown as Envelope

test.each<[string, User, boolean]>([
  ['somebody new', {}, true],
  ['somebody with a key', { demoOnly: false }, false],
  ['somebody with a session', { sessions: 1 }, false],
  ['somebody with another project', { others: 1 }, false],
  ['somebody who put it away', { guide: 'over' }, false],
  ['somebody in the middle of it', { guide: 'on', demoOnly: false, sessions: 1, others: 1 }, true],
  ['somebody whose preferences cannot be read', { damaged: true }, false],
])('%s: %j', async (_, user, shown) => {
  const { guide } = guideOf(user)
  await guide.consider()
  expect(guide.shown).toBe(shown)
})

test('it leads from the model to the question', async () => {
  const { guide, connect } = guideOf({})
  await guide.consider()
  expect(guide.step).toBe(1)
  connect()
  expect(guide.step).toBe(2)
  guide.read()
  expect(guide.step).toBe(3)
})

test.each([
  ['the answer of a model', ended('real', 'done'), false],
  ['the end of the tour', ended('demo', 'done'), true],
  ['a failure', ended('real', 'failed'), true],
  ['an answer that was stopped', ended('real', 'interrupted'), true],
  ['an unknown session', ended('other', 'done'), true],
])('after %s', (_, envelope, shown) => {
  const { guide } = guideOf({ guide: 'on' })
  guide.hear(envelope)
  expect(guide.shown).toBe(shown)
})

test('it does not come back by itself, but when it is asked for', async () => {
  const { guide, composed } = guideOf({ guide: 'on' })
  guide.end()
  await guide.consider()
  expect(guide.shown).toBe(false)
  guide.begin()
  expect(guide.shown).toBe(true)
  expect(composed()).toBe(1)
})
