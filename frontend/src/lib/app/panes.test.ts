import { fireEvent, render, screen } from '@testing-library/svelte'
import { expect, test } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import { bounds, panelLimits, paneWidth, sidebarLimits } from './panes'
import Splitter from './Splitter.svelte'

const width = (wish: number | undefined, window: number, others = 0) =>
  paneWidth(wish, sidebarLimits, bounds(sidebarLimits, window, others))

test.each([
  ['no wish is the usual', undefined, 1280, 260],
  ['nor is 0', 0, 1280, 260],
  ['a wish is kept', 333, 1280, 333],
  ['within its bounds', 20, 1280, 200],
  ['on both sides', 900, 1280, 480],
  ['and as far as the conversation has room', 480, 800, 420],
  ['but never less than the least', 480, 500, 200],
])('%s', (_, wish, window, want) => {
  expect(width(wish, window)).toBe(want)
})

test('the panel leaves room for the sessions and the conversation', () => {
  expect(bounds(panelLimits, 1010, 260)).toEqual({ least: 280, most: 370 })
})

function splitter(edge: 'left' | 'right' = 'right') {
  setLanguage('en')
  const moves: number[] = []
  const rests: number[] = []
  render(Splitter, {
    label: 'Width of the sessions',
    edge,
    width: 260,
    within: { least: 200, most: 480 },
    onmove: (to) => moves.push(to),
    onrest: (to) => rests.push(to),
  })
  return { moves, rests, handle: screen.getByRole('separator', { name: 'Width of the sessions' }) }
}

test('the edge moves by keys, and rests when they are let go', async () => {
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

test('the edge follows the pointer, and rests where it began too', async () => {
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

test('arrows move the edge of the right pane where they point', async () => {
  const { moves, handle } = splitter('left')
  await fireEvent.keyDown(handle, { key: 'ArrowLeft' })
  await fireEvent.keyDown(handle, { key: 'ArrowRight' })
  expect(moves).toEqual([276, 244])
})

test('a double click wishes for the usual width', async () => {
  const { rests, handle } = splitter()
  await fireEvent.dblClick(handle)
  expect(rests).toEqual([0])
})
