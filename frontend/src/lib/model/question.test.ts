import { expect, test } from 'vitest'
import { asReply, isAnswered, nothing, pressed, questionsOf, repliesOf } from './question'

test.each([
  '',
  'null',
  '[]',
  '{"questions":null}',
  '{"questions":{}}',
  '{"questions":["a",1,null]}',
  '{"questions"',
])('%j has no questions', (input) => expect(questionsOf(input)).toEqual([]))

test('questions are read with whatever they lack', () => {
  const input = JSON.stringify({
    questions: [
      {
        question: 'Which?',
        header: 'H',
        multiSelect: true,
        options: [{ label: 'a', preview: 'p' }],
      },
      { question: 7, options: 'x' },
    ],
  })
  expect(questionsOf(input)).toEqual([
    {
      question: 'Which?',
      header: 'H',
      several: true,
      options: [{ label: 'a', description: '', preview: 'p' }],
    },
    { question: '', header: '', several: false, options: [] },
  ])
})

test('options are chosen, one or several, and taken back', () => {
  const one = pressed(nothing, 'a', false)
  expect(one.chosen).toEqual(['a'])
  expect(pressed(one, 'b', false).chosen).toEqual(['b'])
  expect(pressed(one, 'a', false).chosen).toEqual([])
  const two = pressed(one, 'b', true)
  expect(two.chosen).toEqual(['a', 'b'])
  expect(pressed(two, 'a', true).chosen).toEqual(['b'])
})

test('a reply is read as it was written', () => {
  const replies = [{ chosen: ['a'], text: ' mine ' }, nothing]
  expect(repliesOf(asReply(replies))).toEqual([{ chosen: ['a'], text: 'mine' }, nothing])
  for (const bad of ['', '{}', '{"answers":3}', '{"answers":[4]}'])
    expect(repliesOf(bad)).toEqual([])
  expect(
    [nothing, { chosen: [], text: '  ' }, { chosen: ['a'], text: '' }].map(isAnswered),
  ).toEqual([false, false, true])
})
