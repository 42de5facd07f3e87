import { expect, test } from 'vitest'
import { documentLine, documentsLabel } from './documents'
import { emptyView } from '../model/entries'
import { Log } from '../model/testing'
import { apply } from '../model/reducer'

const whole = { path: 'AGENTS.md', size: 2000, told: 2000 }
const cut = { path: 'web/CLAUDE.md', size: 40_000, told: 30_000 }
const broken = { path: 'GEMINI.md', size: 0, told: 0, problem: 'It leads out of the project.' }

// LOOP-47: the page shows which documents were loaded and what was cut.
test('documents are named, and incomplete ones are marked', () => {
  expect(documentsLabel([whole])).toBe('Instructions read: AGENTS.md')
  expect(documentsLabel([whole, cut])).toContain('AGENTS.md, web/CLAUDE.md')
  for (const other of [cut, broken]) {
    expect(documentsLabel([whole, other])).not.toBe(
      documentsLabel([whole]).replace('AGENTS.md', `AGENTS.md, ${other.path}`),
    )
  }
  expect(documentLine(whole)).toMatch(/^AGENTS\.md · /)
  expect(documentLine(cut)).toMatch(/of/)
  expect(documentLine(broken)).toBe('GEMINI.md: It leads out of the project.')
})

test('a briefing shows its documents, if it has any', () => {
  const log = new Log()
  const briefing = { profile: 'spec', provider: 'p', model: 'm', system: '' }
  log.add('briefing', briefing)
  log.add('briefing', { ...briefing, documents: [whole, cut] })
  const { entries } = apply(emptyView, log.events)
  expect(entries).toMatchObject([{ notice: 'documents', documents: [whole, cut] }])
})

test('documents that are sent later are shown, other updates are not', () => {
  const log = new Log()
  const update = { provider: 'p', model: 'm', text: 'Today is another day.' }
  log.add('briefing_update', update)
  log.add('briefing_update', { ...update, documents: [whole] })
  const { entries } = apply(emptyView, log.events)
  expect(entries).toMatchObject([{ notice: 'documents', documents: [whole] }])
})
