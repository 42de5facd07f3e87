import { expect, test } from 'vitest'
import { familiesOf, fontProperties, isFound, quoted, sizeOf } from './fonts'

test.each([
  ['DejaVu Sans', '"DejaVu Sans"'],
  ['x"; background: url(//evil)', '"x\\22 ; background: url(//evil)"'],
  ['x\\', '"x\\5c "'],
  ['a\nb\0', '"a\\a b\\0 "'],
  ['思源黑体', '"思源黑体"'],
])('the name %j stays one string of CSS', (name, want) => {
  expect(quoted(name)).toBe(want)
})

test.each([
  ['interface', undefined, 13],
  ['interface', 5, 11],
  ['interface', 18, 18],
  ['interface', 400, 18],
  ['code', 0, 12],
  ['code', 14.4, 14],
  ['code', -3, 10],
] as const)('the size of %s is %s, within bounds', (of, size, want) => {
  expect(sizeOf(of, { size })).toBe(want)
})

test('a choice is tried before the font that comes with the page', () => {
  expect(familiesOf('code', undefined)).toBe("'JetBrains Mono Variable'")
  expect(familiesOf('code', { family: 'Fira Code' })).toBe(`"Fira Code", 'JetBrains Mono Variable'`)
  expect(familiesOf('interface', { family: 'system' })).toBe('system-ui')
})

test("Inter's alternates are chosen only for Inter", () => {
  expect(fontProperties(undefined)['--sans-features']).toContain('cv11')
  expect(fontProperties({ interface: { family: 'x' } })['--sans-features']).toBe('normal')
})

test.each([
  ['Georgia', true],
  ['Courier', true],
  ['No Such Font', false],
])('whether %s is found: %s', (name, found) => {
  // Courier is what this machine has for monospace, Georgia for serif.
  const widths: Record<string, number> = { monospace: 7, serif: 5, 'sans-serif': 6 }
  const installed: Record<string, number> = { Georgia: 5, Courier: 7 }
  const measure = (_: string, families: string) => {
    const [first, ...rest] = families.split(', ')
    return installed[first!.replaceAll('"', '')] ?? widths[rest[0] ?? first!]!
  }
  expect(isFound(name, measure)).toBe(found)
})
