import { render, screen } from '@testing-library/svelte'
import { expect, test } from 'vitest'
import type { Workbench } from '../state/workbench.svelte'
import type { ServerShown, ServerTool } from '../types.gen'
import TestResult from './TestResult.svelte'
import ToolList from './ToolList.svelte'

const tool = (tokens: number, problem?: 'duplicate') =>
  ({ name: 'read', tokens, hints: {}, offer: problem ? { problem } : {} }) as unknown as ServerTool

test('tools of the same name are all listed', () => {
  const server = {
    name: 'files',
    counts: { tools: 1, tokens: 3 },
    draft: { options: {} },
  }
  const shown = { server, tools: [tool(1), tool(2, 'duplicate')] } as unknown as ServerShown
  render(ToolList, { bench: {} as Workbench, shown })
  expect(screen.getAllByRole('listitem')).toHaveLength(2)
})

test('so are those that the test of a server found', async () => {
  render(TestResult, { tested: { peer: {}, steps: [], tools: [tool(1), tool(2)] } })
  screen.getByRole('button').click()
  expect(await screen.findAllByRole('listitem')).toHaveLength(2)
})
