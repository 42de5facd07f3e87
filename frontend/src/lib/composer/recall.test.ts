import { expect, test } from 'vitest'
import { Recall } from './recall.svelte'

const key = (name: string) => new KeyboardEvent('keydown', { key: name, cancelable: true })

/** A field with what was sent, the newest first. */
function field(sent: string[]) {
  const it = { text: '' }
  const recall = new Recall(
    () => Promise.resolve(sent),
    (text) => (it.text = text),
  )
  return {
    it,
    async press(name: string) {
      const isTaken = recall.press(key(name), it.text)
      await Promise.resolve()
      await Promise.resolve()
      return isTaken
    },
  }
}

test('Up goes back from an empty field, Down forward again to the empty field', async () => {
  const { it, press } = field(['new', 'old'])
  expect(await press('ArrowDown')).toBe(false)
  expect(await press('ArrowUp')).toBe(true)
  expect(it.text).toBe('new')
  await press('ArrowUp')
  expect(it.text).toBe('old')
  await press('ArrowUp')
  expect(it.text).toBe('old')
  await press('ArrowDown')
  await press('ArrowDown')
  expect(it.text).toBe('')
})

test('what the user wrote or changed stays', async () => {
  const { it, press } = field(['new'])
  it.text = 'mine'
  expect(await press('ArrowUp')).toBe(false)
  it.text = ''
  await press('ArrowUp')
  it.text = 'new, changed'
  expect(await press('ArrowUp')).toBe(false)
  expect(await press('ArrowDown')).toBe(false)
  expect(it.text).toBe('new, changed')
})

test('nothing happens where nothing was sent', async () => {
  const { it, press } = field([])
  await press('ArrowUp')
  expect(it.text).toBe('')
})
