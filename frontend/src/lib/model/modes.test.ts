import { expect, test } from 'vitest'
import type { Mode } from '../types.gen'
import { bypass, modes, nextMode } from './modes'

// OC-08: one of the modes is the one that proposes instead of changing.
test.each(modes)('stepping from %s never leads to the mode that does not ask', (from) => {
  const walked: Mode[] = []
  for (let mode = nextMode(from), n = 0; n < modes.length; mode = nextMode(mode), n++) {
    walked.push(mode)
  }
  expect(walked).not.toContain(bypass)
  expect(walked).toContain('plan')
  expect(new Set(walked)).toEqual(new Set(modes.filter((mode) => mode !== bypass)))
})
