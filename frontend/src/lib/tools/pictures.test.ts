import { fireEvent, render, screen } from '@testing-library/svelte'
import { beforeEach, expect, test } from 'vitest'
import type { ToolEntry } from '../model/entries'
import { setLanguage } from '../i18n/i18n.svelte'
import type { Media } from '../types.gen'
import { outcome } from './describe'
import { pictureSource, type Picture } from '../model/pictures'
import Pictures from './Pictures.svelte'

beforeEach(() => setLanguage('en'))

test.each<[Media, string | undefined]>([
  [{ mime: 'image/png', data: 'AAAA' }, 'data:image/png;base64,AAAA'],
  [{ mime: 'image/webp', data: 'AAAA' }, 'data:image/webp;base64,AAAA'],
  [{ mime: 'image/svg+xml', data: 'AAAA' }, undefined],
  [{ mime: 'text/html', data: 'AAAA' }, undefined],
  [{ mime: 'image/png', url: 'https://example.com/a.png' }, undefined],
])('%o is shown as %s', (media, want) => {
  expect(pictureSource(media)).toBe(want)
})

const png = { mime: 'image/png', name: 'shot.png' }

function show(media: Media[]) {
  const enlarged: Picture[] = []
  const onenlarge = (picture: Picture) => void enlarged.push(picture)
  return { enlarged, ...render(Pictures, { shown: [png], read: async () => media, onenlarge }) }
}

test('a picture is read when it is shown, and enlarged by a press', async () => {
  const { enlarged } = show([{ ...png, data: 'AAAA' }])
  const image = await screen.findByRole('img', { name: 'shot.png' })
  expect(image.getAttribute('src')).toBe('data:image/png;base64,AAAA')
  await fireEvent.click(screen.getByRole('button', { name: 'Show shot.png in full size' }))
  expect(enlarged).toEqual([{ name: 'shot.png', source: 'data:image/png;base64,AAAA' }])
})

test('a picture that cannot be read or painted says so', async () => {
  const { unmount } = show([])
  await screen.findByText('shot.png could not be shown.')
  unmount()
  show([{ ...png, data: 'AAAA' }])
  await fireEvent.error(await screen.findByRole('img'))
  await screen.findByText('shot.png could not be shown.')
})

test('the line of a call counts its pictures', () => {
  const ended = (media: Media[]) => outcome({ status: 'done', media } as unknown as ToolEntry)
  expect(ended([png]).text).toBe('1 picture')
  expect(ended([{ mime: 'application/pdf' }]).text).toBe('')
})
