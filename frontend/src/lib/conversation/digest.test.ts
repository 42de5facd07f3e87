import { expect, test } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import { digestOf } from '../model/digest'
import { turnWords } from './digest'

test('a turn without calls was answered only if it was done', () => {
  setLanguage('en')
  expect(turnWords(digestOf([]), true)).toBe('Answered')
  expect(turnWords(digestOf([]), false)).toBe('Not finished')
})
