import { fireEvent, screen, waitFor } from '@testing-library/svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import type { Catalog } from '../state/catalog.svelte'
import { setLanguage } from '../i18n/i18n.svelte'
import { renderInApp } from '../ui/testing'
import EndpointsPanel from './EndpointsPanel.svelte'

beforeEach(() => setLanguage('en'))

function show() {
  const removeEndpoint = vi.fn(() => Promise.resolve())
  const house = { id: 'house', name: 'House', base_url: 'https://house/v1' }
  const catalog = {
    endpoints: [house],
    loadEndpoints: () => Promise.resolve(),
    removeEndpoint,
    tested: () => undefined,
  }
  renderInApp(EndpointsPanel, { catalog: catalog as unknown as Catalog })
  return removeEndpoint
}
const button = (name: string) => screen.getByRole('button', { name })

test('an endpoint is removed after a confirmation', async () => {
  const remove = show()
  await fireEvent.click(button('Remove'))
  await screen.findByText('Remove House?')
  await fireEvent.click(button('Cancel'))
  expect(remove).not.toHaveBeenCalled()
  await fireEvent.click(button('Remove'))
  await fireEvent.click(await screen.findByRole('button', { name: 'Remove endpoint' }))
  expect(remove).toHaveBeenCalledExactlyOnceWith('house')
})

test.each(['Add endpoint', 'Change'])(
  '%s moves the focus into the form and back',
  async (opener) => {
    show()
    await fireEvent.click(button(opener))
    const name = screen.getByRole('textbox', { name: 'Name' })
    await waitFor(() => expect(document.activeElement).toBe(name))
    await fireEvent.keyDown(name, { key: 'Escape' })
    await waitFor(() => expect(document.activeElement).toBe(button(opener)))
  },
)
