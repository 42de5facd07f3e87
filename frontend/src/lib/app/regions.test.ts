import { beforeEach, expect, test } from 'vitest'
import { moveRegion } from './regions'

beforeEach(() => {
  document.body.innerHTML = `
    <div data-region><button id="a">A</button><button id="a2">A2</button></div>
    <div data-region><p>Nothing to focus</p><button disabled>No</button></div>
    <button id="outside">Outside</button>
    <div data-region><div tabindex="0" id="b"></div></div>
    <div data-region><button>Attach</button><textarea data-composer id="c"></textarea></div>`
})

const walk = (from: string, step: 1 | -1, times: number) => {
  document.getElementById(from)?.focus()
  return Array.from({ length: times }, () => {
    moveRegion(step)
    return document.activeElement?.id
  })
}

test.each<[string, string, 1 | -1, string[]]>([
  ['forwards, wrapping around', 'a2', 1, ['b', 'c', 'a', 'b']],
  ['backwards, wrapping around', 'a2', -1, ['c', 'b', 'a', 'c']],
  ['forwards from outside the regions', '', 1, ['a', 'b']],
  ['backwards from outside the regions', 'outside', -1, ['c']],
])('F6 moves the focus %s', (_, from, step, places) =>
  expect(walk(from, step, places.length)).toEqual(places),
)

test('the focus stays if there is only one region or none', () => {
  document.body.innerHTML =
    '<div data-region><button id="a"></button><button id="b"></button></div>'
  expect(walk('b', 1, 1)).toEqual(['b'])
  document.body.innerHTML = '<button id="a"></button>'
  expect(walk('a', -1, 1)).toEqual(['a'])
})
