import { expect, test, vi } from 'vitest'
import { memo } from './memo'

test('the latest results are remembered, and those of long texts are not', () => {
  const work = vi.fn((text: string) => text.toUpperCase())
  const upper = memo(work, 2, 5)
  expect(['a', 'b', 'a', 'c', 'a', 'b'].map(upper)).toEqual(['A', 'B', 'A', 'C', 'A', 'B'])
  expect(work.mock.calls.map(([text]) => text)).toEqual(['a', 'b', 'c', 'b'])
  work.mockClear()
  for (let n = 0; n < 2; n++) expect(upper('longer')).toBe('LONGER')
  expect(work).toHaveBeenCalledTimes(2)
})
