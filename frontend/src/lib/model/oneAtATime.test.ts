import { expect, test } from 'vitest'
import { oneAtATime } from './oneAtATime'

const settled = () => new Promise((resolve) => setTimeout(resolve))

test('calls during a run cause one more run, never two at the same time', async () => {
  let runs = 0
  let atOnce = 0
  const run = oneAtATime(async () => {
    runs++
    atOnce++
    expect(atOnce).toBe(1)
    await settled()
    atOnce--
  })
  await Promise.all([run(), run(), run()])
  expect(runs).toBe(2)
  await run()
  expect(runs).toBe(3)
})
