import { fireEvent, render, screen } from '@testing-library/svelte'
import { expect, test } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import { bounds, panelLimits, paneWidth, sidebarLimits } from './panes'
import Splitter from './Splitter.svelte'

const width = (wish: number | undefined, window: number, others = 0) =>
  paneWidth(wish, sidebarLimits, bounds(sidebarLimits, window, others))

test.each([
  ['without a wish it is the default', undefined, 1280, 240],
  ['for 0 it is the default', 0, 1280, 240],
  ['it follows a wish', 333, 1280, 333],
  ['it has a minimum', 20, 1280, 200],
  ['it has a maximum', 900, 1280, 480],
  ['it leaves room for the conversation', 480, 800, 420],
  ['it keeps its minimum in a narrow window', 480, 500, 200],
])('the width of the sidebar: %s', (_, wish, window, want) => {
  expect(width(wish, window)).toBe(want)
})

test('the panel leaves room for the sidebar and the conversation', () => {
  expect(bounds(panelLimits, 1010, 260)).toEqual({ least: 280, most: 370 })
})

function splitter(edge: 'left' | 'right' = 'right') {
  setLanguage('en')
  const moves: number[] = []
  const rests: number[] = []
  render(Splitter, {
    label: 'Width of the session list',
    edge,
    width: 260,
    within: { least: 200, most: 480 },
    onmove: (to) => moves.push(to),
    onrest: (to) => rests.push(to),
  })
  return {
    moves,
    rests,
    handle: screen.getByRole('separator', { name: 'Width of the session list' }),
  }
}

test('keys move the splitter, and releasing them sets the width', async () => {
  const { moves, rests, handle } = splitter()
  expect(handle.getAttribute('aria-valuenow')).toBe('260')
  for (const key of ['ArrowRight', 'ArrowLeft', 'Home', 'End', 'x']) {
    await fireEvent.keyDown(handle, { key })
  }
  expect(moves).toEqual([276, 244, 200, 480])
  expect(rests).toEqual([])
  await fireEvent.keyUp(handle)
  expect(rests).toEqual([260])
})

test('the splitter follows the pointer, back to its start as well', async () => {
  Element.prototype.setPointerCapture = () => {}
  const { moves, rests, handle } = splitter()
  const point = (type: string, x: number) =>
    fireEvent(handle, new MouseEvent(type, { bubbles: true, clientX: x }))
  await point('pointermove', 300)
  await point('pointerdown', 260)
  await point('pointermove', 290)
  await point('pointermove', 900)
  await point('pointermove', 260)
  await point('pointerup', 260)
  await point('pointermove', 300)
  expect(moves).toEqual([290, 480, 260])
  expect(rests).toEqual([260])
})

test('arrow keys move the splitter of the right pane in their direction', async () => {
  const { moves, handle } = splitter('left')
  await fireEvent.keyDown(handle, { key: 'ArrowLeft' })
  await fireEvent.keyDown(handle, { key: 'ArrowRight' })
  expect(moves).toEqual([276, 244])
})

test('a double click restores the default width', async () => {
  const { rests, handle } = splitter()
  await fireEvent.dblClick(handle)
  expect(rests).toEqual([0])
})
