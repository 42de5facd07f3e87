import { render, screen } from '@testing-library/svelte'
import { expect, test, vi } from 'vitest'
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
