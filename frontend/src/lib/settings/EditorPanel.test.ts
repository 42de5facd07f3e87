import { fireEvent, screen, waitFor } from '@testing-library/svelte'
import { expect, test, vi } from 'vitest'
import type { Workbench } from '../state/workbench.svelte'
import { renderInApp } from '../ui/testing'
import EditorPanel from './EditorPanel.svelte'
import { own } from './messages'

test('the editor is opened once, however often its button is pressed', async () => {
  let opened = () => {}
  const attempt = vi.fn(
    () => new Promise((resolve) => (opened = () => resolve({ name: 'Kate', path: 'a.go' }))),
  )
  const editors = { list: { found: [] }, load: async () => {}, try: attempt }
  renderInApp(EditorPanel, { bench: { editors, preferences: {} } as unknown as Workbench })
  const button = screen.getByRole('button', { name: own('editor_try') })
  await waitFor(() => expect(button.getAttribute('aria-disabled')).not.toBe('true'))
  for (let i = 0; i < 3; i++) await fireEvent.click(button)
  expect(attempt).toHaveBeenCalledOnce()
  opened()
  await screen.findByText(own('editor_opened', { name: 'Kate', path: 'a.go' }))
  await fireEvent.click(button)
  expect(attempt).toHaveBeenCalledTimes(2)
})
