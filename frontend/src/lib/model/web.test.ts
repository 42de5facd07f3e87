import { expect, test } from 'vitest'
import { browserCardOf, fetchCardOf, opens, promptOf, searchCardOf } from './web'

test('a card has what can be shown, and no link that is not of the web', () => {
  const links = [
    { text: 'a', url: 'https://a.example' },
    { text: 'b', url: 'javascript:alert(1)' },
    { url: 'http://c.example' },
    null,
  ]
  const card = fetchCardOf({ url: 'https://x.example', title: 3, status: 200, links })
  expect(card?.links).toEqual([
    { text: 'a', url: 'https://a.example' },
    { text: '', url: 'http://c.example' },
  ])
  expect(card?.title).toBe('')
  expect(fetchCardOf(undefined)).toBeUndefined()
  expect(fetchCardOf('x')).toBeUndefined()
  expect(fetchCardOf({ links: 'x' })?.links).toEqual([])
})

test('the hits of a search are pages of the web', () => {
  const hits = [{ title: 'A', url: 'https://a.example', excerpt: 'x' }, { url: 'data:x' }, null]
  expect(searchCardOf({ engine: 'Exa', hits })).toEqual({
    engine: 'Exa',
    hits: [{ text: 'A', url: 'https://a.example', excerpt: 'x', age: '' }],
  })
  expect(searchCardOf(null)).toBeUndefined()
})

test('only addresses of the web open', () => {
  expect(opens('HTTPS://a.example')).toBe(true)
  expect(opens('file:///etc/passwd')).toBe(false)
  expect(opens(' https://a.example')).toBe(false)
})

test('the prompt is the one of the call', () => {
  expect(promptOf('{"url":"https://a.example","prompt":"What?"}')).toBe('What?')
  expect(promptOf('{"url":"https://a.example"}')).toBe('')
})

test('a page in the browser has what can be shown', () => {
  const card = { url: 'http://localhost:5173/', title: 'Shop', status: 404, trouble: ['a', 3, 'b'] }
  expect(browserCardOf(card)).toEqual({ ...card, trouble: ['a', 'b'] })
  expect(browserCardOf({ title: 3 })).toEqual({ url: '', title: '', status: 0, trouble: [] })
  expect(browserCardOf('x')).toBeUndefined()
})
