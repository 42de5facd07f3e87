import { expect, test } from 'vitest'
import type { Call } from '../api'
import { Aside } from './aside.svelte'

test('an answer is shown to the newest question only', async () => {
  const waiting: ((answer: string) => void)[] = []
  const call = ((_: string, args: unknown) =>
    new Promise((resolve) => {
      waiting.push((answer) => resolve({ answer, model: 'm', cost: { usd: 0 }, args }))
    })) as unknown as Call
  const aside = new Aside(call)
  aside.begin('s', 'first?')
  expect([aside.session, aside.question, aside.busy]).toEqual(['s', 'first?', true])
  const second = aside.ask('second?')
  waiting[0]!('to the first')
  await Promise.resolve()
  expect([aside.reply, aside.busy]).toEqual([undefined, true])
  waiting[1]!('to the second')
  await second
  expect([aside.reply?.answer, aside.busy]).toEqual(['to the second', false])

  const third = aside.ask('third?')
  aside.close()
  waiting[2]!('too late')
  await third
  expect([aside.session, aside.reply]).toEqual(['', undefined])
})

test('what goes wrong is said', async () => {
  const aside = new Aside((() =>
    Promise.reject({ code: 'internal', message: 'no' })) as unknown as Call)
  aside.begin('s', '')
  expect(aside.busy).toBe(false)
  await aside.ask('why?')
  expect(aside.problem).not.toBeNull()
})
