import { fireEvent, render, screen } from '@testing-library/svelte'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import type { Workbench } from '../state/workbench.svelte'
import { purpose } from './purposes'
import ToolsPanel from './ToolsPanel.svelte'

beforeEach(() => setLanguage('en'))
afterEach(() => setLanguage('en'))

const benchWith = (off: string[], prefer: unknown) =>
  ({
    preferences: { new_session: {}, layout: {}, tools_off: off },
    prefer,
    make: () => ({
      load: () => Promise.resolve(),
      all: [
        { name: 'Read', tier: 'core' },
        { name: 'WebFetch', tier: 'core' },
        { name: 'LSP', tier: 'specialist' },
      ],
    }),
  }) as unknown as Workbench

// OAS-206, OAS-207: each tool has a switch under its tier.
test('a tool is switched off and on', async () => {
  const prefer = vi.fn()
  render(ToolsPanel, { bench: benchWith(['LSP'], prefer) })
  const switches = screen.getAllByRole<HTMLInputElement>('switch')
  expect(switches.map(({ checked }) => checked)).toEqual([true, true, false])
  await fireEvent.click(screen.getByRole('switch', { name: 'WebFetch' }))
  expect(prefer).toHaveBeenLastCalledWith({ tools_off: ['LSP', 'WebFetch'] })
  await fireEvent.click(screen.getByRole('switch', { name: 'LSP' }))
  expect(prefer).toHaveBeenLastCalledWith({ tools_off: [] })
})

test.each([
  ['en', 'Reads files'],
  ['zh-CN', '读取文件'],
])('a tool says in %s what it is for', async (language, does) => {
  await setLanguage(language)
  expect(purpose('Read')).toBe(does)
  expect(purpose('Nothing')).toBe('')
})
