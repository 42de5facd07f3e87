import { expect, test } from 'vitest'
import type { Media } from '../types.gen'
import { pictureSource } from './pictures'

test.each<[Media, string | undefined]>([
  [{ mime: 'image/png', data: 'AAAA' }, 'data:image/png;base64,AAAA'],
  [{ mime: 'image/webp', data: 'AAAA' }, 'data:image/webp;base64,AAAA'],
  [{ mime: 'image/svg+xml', data: 'AAAA' }, undefined],
  [{ mime: 'text/html', data: 'AAAA' }, undefined],
  [{ mime: 'image/png', url: 'https://example.com/a.png' }, undefined],
])('%o is shown as %s', (media, want) => {
  expect(pictureSource(media)).toBe(want)
})
