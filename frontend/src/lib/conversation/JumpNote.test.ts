import { render, screen } from '@testing-library/svelte'
import { expect, test, vi } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import type { Entry } from '../model/entries'
import JumpNote from './JumpNote.svelte'

test('a jump to the error that ended a turn says which one it is', async () => {
  await setLanguage('en')
  const failure = { code: 'x', message: 'The server is gone.' }
  const entry = { type: 'notice', key: 'n', notice: 'error', failure } as unknown as Entry
  render(JumpNote, { said: { jump: 'next_error', entry }, atEnd: true, onlatest: vi.fn() })
  expect(screen.getByRole('status').textContent).toBe('Error: The server is gone.')
})
