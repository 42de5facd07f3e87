import { render, screen } from '@testing-library/svelte'
import { expect, test, vi } from 'vitest'
import { ApiError } from '../api'
import type { Workbench } from '../state/workbench.svelte'
import type { FoundTranscript } from '../types.gen'
import ImportDialog from './ImportDialog.svelte'

const transcript = (name: string): FoundTranscript => ({
  program: 'codex',
  name,
  size: 1,
  at: 1,
  prompt: `prompt ${name}`,
  folder: '/p',
})

test('a transcript that moved to the next page meanwhile is listed once', async () => {
  const pages = [
    [transcript('a'), transcript('b')],
    [transcript('b'), transcript('c')],
  ]
  const found = vi.fn(() => Promise.resolve({ found: pages.shift()!, total: 4, folder: '/p' }))
  const bench = { transcripts: { found } } as unknown as Workbench
  render(ImportDialog, { bench, onopen: vi.fn(), onclose: vi.fn() })
  const more = await screen.findByRole('button', { name: 'Show more' })
  more.click()
  await screen.findByText('prompt c')
  expect(screen.getAllByText(/^prompt/)).toHaveLength(3)
})

test('all transcripts of a project are imported, one after another, up to one that fails', async () => {
  const items = ['a', 'b', 'c', 'd'].map(transcript)
  const taken: string[] = []
  const bench = {
    transcripts: {
      found: () => Promise.resolve({ found: items, total: 4, folder: '/p' }),
      progress: () => new Promise(() => {}),
      import: ({ name }: { name: string }) => {
        if (name === 'c')
          return Promise.reject(new ApiError({ code: 'invalid', message: 'It is torn.' }))
        taken.push(name)
        return Promise.resolve({ session: { id: `session ${name}` } })
      },
    },
  } as unknown as Workbench
  const onopen = vi.fn()
  render(ImportDialog, { bench, onopen, onclose: vi.fn() })
  const all = await screen.findByRole('button', { name: 'Import all 4' })
  all.click()
  await screen.findByText('2 of 4 were imported.')
  await screen.findByText(/It is torn/)
  expect(taken).toEqual(['a', 'b'])
  expect(onopen).not.toHaveBeenCalled()
  expect(screen.getAllByRole('button', { name: 'Open' })).toHaveLength(2)
  expect(screen.getByRole('button', { name: 'Import all 2' })).toBeTruthy()
})
