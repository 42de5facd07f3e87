import { screen } from '@testing-library/svelte'
import { tick } from 'svelte'
import { expect, test } from 'vitest'
import type { Call } from '../api'
import type { Desktop } from '../desktop'
import { Projects } from '../state/projects.svelte'
import { renderInApp } from '../ui/testing'
import FolderField from './FolderField.svelte'
import { own } from './messages'

test('the button keeps the focus while a folder is opened', async () => {
  const projects = new Projects((async () => ({})) as unknown as Call, {} as Desktop)
  renderInApp(FolderField, { projects, onopen: () => {}, onback: () => {} })
  const button = screen.getByRole<HTMLButtonElement>('button', { name: own('submit') })
  button.focus()
  projects.opening = '/work/shop'
  await tick()
  expect(button.getAttribute('aria-disabled')).toBe('true')
  expect(button.disabled).toBe(false)
})
