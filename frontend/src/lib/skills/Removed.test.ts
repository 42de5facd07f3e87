import { fireEvent, screen, waitFor } from '@testing-library/svelte'
import { expect, test, vi } from 'vitest'
import { ApiError, type Call } from '../api'
import { Skills } from '../state/skills.svelte'
import type { Trust } from '../state/trust.svelte'
import { renderInApp } from '../ui/testing'
import Removed from './Removed.svelte'

test('a removed skill is restored', async () => {
  let removed = [{ id: 'bin', name: 'knit\u202e', from: '~/.agent/skills/knit', at: Date.now() }]
  let refuses = true
  const call = vi.fn(async (method: string) => {
    if (method === 'skills.restore') {
      if (refuses) throw new ApiError({ message: 'It exists already.' })
      removed = []
    }
    return { tokens: 0, budget: 0, removed }
  })
  const skills = new Skills(call as unknown as Call, {} as Trust)
  await skills.load()
  const onrestored = vi.fn()
  renderInApp(Removed, { skills, onrestored })
  await fireEvent.click(screen.getByRole('button', { name: '1 removed skill' }))
  screen.getByText('~/.agent/skills/knit')
  const button = screen.getByRole('button', { name: 'Restore knit⟨U+202E⟩' })
  await fireEvent.click(button)
  await waitFor(() => expect(skills.problem?.message).toBe('It exists already.'))
  expect(onrestored).not.toHaveBeenCalled()

  refuses = false
  await fireEvent.click(button)
  await waitFor(() => expect(onrestored.mock.calls).toEqual([['knit⟨U+202E⟩']]))
  expect(call).toHaveBeenCalledWith('skills.restore', { id: 'bin' })
  expect(screen.queryByRole('button')).toBeNull()
})
