import { render, screen } from '@testing-library/svelte'
import { expect, test } from 'vitest'
import Sounds from './Sounds.svelte'

const wav = { mime: 'audio/wav', name: 'bell\u202e', data: 'UklGRg==' }
const page = { mime: 'text/html', name: 'page', data: 'PGI+' }

test('sounds are there to be played, do not play by themselves, and only what is a sound is one', async () => {
  render(Sounds, {
    shown: [wav, page, wav].map(({ mime, name }) => ({ mime, name })),
    read: () => Promise.resolve([wav, page]),
  })
  const player = await screen.findByLabelText<HTMLAudioElement>('bell⟨U+202E⟩')
  expect(player.getAttribute('src')).toBe('data:audio/wav;base64,UklGRg==')
  expect(player.controls).toBe(true)
  expect(player.autoplay).toBe(false)
  expect(document.querySelectorAll('audio')).toHaveLength(1)
  expect(screen.getAllByText('It cannot be played here.')).toHaveLength(2)
})
