import { fireEvent, render, screen } from '@testing-library/svelte'
import { beforeEach, expect, test } from 'vitest'
import type { ToolEntry } from '../model/entries'
import { setLanguage } from '../i18n/i18n.svelte'
import type { Media } from '../types.gen'
import { outcome } from './describe'
import type { Picture } from '../model/pictures'
import Pictures from './Pictures.svelte'

beforeEach(() => setLanguage('en'))

const png = { mime: 'image/png', name: 'shot.png' }

function show(media: Media[]) {
  const enlarged: Picture[] = []
  const onenlarge = (picture: Picture) => void enlarged.push(picture)
  return { enlarged, ...render(Pictures, { shown: [png], read: async () => media, onenlarge }) }
}

test('a picture is loaded when it is shown, and a click enlarges it', async () => {
  const { enlarged } = show([{ ...png, data: 'AAAA' }])
  const image = await screen.findByRole('img', { name: 'shot.png' })
  expect(image.getAttribute('src')).toBe('data:image/png;base64,AAAA')
  await fireEvent.click(screen.getByRole('button', { name: 'Show shot.png at full size' }))
  expect(enlarged).toEqual([{ name: 'shot.png', source: 'data:image/png;base64,AAAA' }])
})

test('a note replaces a picture that cannot be loaded or painted', async () => {
  const { unmount } = show([])
  await screen.findByText('shot.png could not be shown.')
  unmount()
  show([{ ...png, data: 'AAAA' }])
  await fireEvent.error(await screen.findByRole('img'))
  await screen.findByText('shot.png could not be shown.')
})

test('the result of a call counts its pictures', () => {
  const ended = (media: Media[]) => outcome({ status: 'done', media } as unknown as ToolEntry)
  expect(ended([png]).text).toBe('1 picture')
  expect(ended([{ mime: 'application/pdf' }]).text).toBe('')
})
