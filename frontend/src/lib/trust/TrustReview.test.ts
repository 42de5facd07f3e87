import { render, screen } from '@testing-library/svelte'
import { expect, test } from 'vitest'
import type { Trust } from '../state/trust.svelte'
import TrustReview from './TrustReview.svelte'

const onleave = () => {}

test('the name of what may run hides nothing from a screen reader either', async () => {
  const shown = { title: 'a\u202eb\u200b', command: 'c\u202ed', origin: '/p/x.json', state: 'new' }
  const trust = { shown, place: 1, waiting: [], reviewed: 'x', close: () => {} }
  render(TrustReview, { trust: trust as unknown as Trust, folder: '/p', onleave })
  await screen.findByRole('group', { name: 'a⟨U+202E⟩b⟨U+200B⟩' })
  expect(document.body.innerHTML).not.toMatch(/[\u202e\u200b]/)
})

test('every note and every text is shown, also those of the same kind', async () => {
  const note = { id: 'outside', message: 'It is outside.' }
  const text = { path: '/p/a.sh', text: 'x' }
  const shown = { title: 'a', command: 'c', origin: '/p/x.json', state: 'new' }
  const trust = {
    shown: { ...shown, notes: [note, note], texts: [text, text] },
    place: 1,
    waiting: [],
    reviewed: 'x',
    close: () => {},
  }
  render(TrustReview, { trust: trust as unknown as Trust, folder: '/p', onleave })
  expect(await screen.findAllByText('It is outside.')).toHaveLength(2)
  expect(screen.getAllByRole('region', { name: '/p/a.sh' })).toHaveLength(2)
})

test('a trusted item offers one way to close the dialog', async () => {
  const shown = { title: 'a', command: 'c', origin: '/p/x.json', state: 'trusted' }
  const trust = { shown, place: 0, waiting: [], reviewed: 'x', close: () => {} }
  render(TrustReview, { trust: trust as unknown as Trust, folder: '/p', onleave })
  await screen.findByRole('button', { name: 'Revoke trust' })
  expect(screen.getAllByRole('button', { name: 'Close' })).toHaveLength(1)
})
