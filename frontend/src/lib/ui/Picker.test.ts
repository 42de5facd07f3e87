import { fireEvent, screen } from '@testing-library/svelte'
import { expect, test, vi } from 'vitest'
import Picker from './Picker.svelte'
import { renderInApp } from './testing'

test('Escape closes the list, and is not handled by anything around it', async () => {
  const around = vi.fn()
  renderInApp(Picker as never, {
    label: 'Ends',
    value: 'never',
    options: [
      { value: 'never', label: 'Never' },
      { value: 'today', label: 'Today' },
    ],
    onchange: () => {},
  })
  document.body.addEventListener('keydown', around)
  const picker = screen.getByRole('combobox')
  picker.focus()
  await fireEvent.keyDown(picker, { key: 'Enter' })
  await screen.findByRole('listbox')
  around.mockClear()
  await fireEvent.keyDown(picker, { key: 'Escape' })
  await expect.poll(() => screen.queryByRole('listbox')).toBeNull()
  expect(around).not.toHaveBeenCalled()
  await fireEvent.keyDown(picker, { key: 'Escape' })
  expect(around).toHaveBeenCalledOnce()
})
