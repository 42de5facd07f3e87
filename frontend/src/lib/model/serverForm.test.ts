import { describe, expect, test } from 'vitest'
import { contentOf, faultOf, fieldsOfForm, presets } from './serverForm'

const schema = {
  type: 'object',
  required: ['name', 'age'],
  properties: {
    name: { type: 'string', title: 'Your name', minLength: 2, maxLength: 5 },
    mail: { type: 'string', format: 'email' },
    age: { type: 'integer', minimum: 18 },
    news: { type: 'boolean', default: true },
    size: { type: 'string', enum: ['s', 'm'], enumNames: ['Small', 'Medium'], default: 'm' },
    tone: { type: 'string', oneOf: [{ const: 'a', title: 'Calm' }, { const: 'b' }] },
    tags: { type: 'array', items: { enum: ['x', 'y'] }, maxItems: 1, default: ['x'] },
  },
}
const fields = fieldsOfForm(schema)
const field = (name: string) => fields.find((it) => it.name === name)!

test('each property is a field', () => {
  expect(fields.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
    ...['name text', 'mail text', 'age number', 'news switch', 'size choice', 'tone choice'],
    'tags choices',
  ])
  expect(field('name')).toMatchObject({ label: 'Your name', required: true })
  expect(field('size').choices[1]).toEqual({ value: 'm', label: 'Medium' })
  expect(field('tone').choices.map(({ label }) => label)).toEqual(['Calm', 'b'])
})

test.each([
  ['name', '', 'missing'],
  ['name', 'a', 'short'],
  ['name', 'abcdef', 'long'],
  ['name', '👩🏽x', undefined],
  ['mail', '', undefined],
  ['mail', 'a', 'format'],
  ['mail', 'a@b', undefined],
  ['age', 'x', 'number'],
  ['age', '18.5', 'whole'],
  ['age', '17', 'small'],
  ['age', '18', undefined],
  ['tags', ['x', 'y'], 'many'],
  ['news', false, undefined],
] as const)('%s with %j has the fault %s', (name, value, want) =>
  expect(faultOf(field(name), value)).toBe(want),
)

test('the answer has values of their types, and nothing that is empty', () =>
  expect(contentOf(fields, { ...presets(fields), name: 'Ada', age: '36' })).toEqual({
    ...{ name: 'Ada', age: 36, news: true, size: 'm', tags: ['x'] },
  }))

describe('a hostile schema', () => {
  test.each([undefined, null, 7, 'x', [], { properties: [] }, { properties: { a: null } }])(
    '%j is not an error',
    (given) => expect(fieldsOfForm(given).length).toBeLessThanOrEqual(1),
  )

  test('has a limit', () => {
    const many = Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`f${at}`, {}]))
    expect(fieldsOfForm({ properties: many })).toHaveLength(50)
  })

  test('cannot touch what objects inherit', () => {
    const given: unknown = JSON.parse('{"properties": {"__proto__": {"type": "string"}}}')
    const content = contentOf(fieldsOfForm(given), JSON.parse('{"__proto__": "x"}') as never)
    expect(Object.getPrototypeOf(content)).toBe(Object.prototype)
  })
})

test.each([
  ['password', {}, true],
  ['apiKey', {}, true],
  ['github_token', {}, true],
  ['x', { title: 'Your PIN' }, true],
  ['x', { description: 'The access token of your account' }, true],
  ['x', { format: 'password' }, true],
  ['口令', {}, true],
  ['pin', { type: 'integer' }, true],
  ['has_password', { type: 'boolean' }, false],
  ['name', {}, false],
  ['max_tokens', { type: 'integer' }, false],
  [
    'keyboard',
    { title: 'Key layout', description: 'How keys are placed, opinions welcome' },
    false,
  ],
  ['compass', { description: 'passes' }, false],
])('a field %s with %o asks for a secret: %s', (name, property, want) => {
  const [only] = fieldsOfForm({ properties: { [name]: { type: 'string', ...property } } })
  expect(only!.secret).toBe(want)
})
