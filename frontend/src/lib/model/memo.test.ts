import { expect, test } from 'vitest'
import { noteIn } from './memo'

test.each([
  ['# Use tabs. ', 'Use tabs.'],
  ['#记住 这个', '记住 这个'],
  ['#12 fails', '12 fails'],
  ['#', undefined],
  ['# ', undefined],
  ['## A heading', undefined],
  ['# A heading\nand a text', undefined],
  ['text # not', undefined],
])('%j is the note %j', (text, note) => expect(noteIn(text)).toBe(note))
