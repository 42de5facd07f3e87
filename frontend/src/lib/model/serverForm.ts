/** The form that an MCP server asks to be filled in: a flat schema of strings, numbers, booleans and choices. */

type FormChoice = { value: string; label: string }

export type FormField = {
  name: string
  label: string
  description: string
  required: boolean
  kind: 'text' | 'number' | 'switch' | 'choice' | 'choices'
  /** Of a text: email, uri, date or date-time. */
  format: string
  /** Of a number. */
  whole: boolean
  /** Whether it seems to ask for a password or the like, which forms must not. */
  secret: boolean
  choices: readonly FormChoice[]
  least?: number
  most?: number
  preset: FormValue
}

export type FormValue = string | boolean | readonly string[]
export type FormValues = Readonly<Record<string, FormValue>>

/** How many fields and choices of a form are shown. A server that asks for more is not asking a person. */
const most = 50

/** The fields of a schema. A field of an unknown kind becomes a text. */
export function fieldsOfForm(schema: unknown): FormField[] {
  const { properties, required } = record(schema)
  const isRequired = new Set(Array.isArray(required) ? required : [])
  return Object.entries(record(properties))
    .slice(0, most)
    .map(([name, property]) => fieldOf(name, record(property), isRequired.has(name)))
}

function fieldOf(name: string, of: Record<string, unknown>, required: boolean): FormField {
  const isList = of.type === 'array'
  const choices = choicesOf(isList ? record(of.items) : of)
  const isNumber = of.type === 'number' || of.type === 'integer'
  let kind: FormField['kind'] = 'text'
  if (of.type === 'boolean') kind = 'switch'
  else if (isList && choices.length > 0) kind = 'choices'
  else if (choices.length > 0) kind = 'choice'
  else if (isNumber) kind = 'number'
  const [least, limit] = isList
    ? [of.minItems, of.maxItems]
    : isNumber
      ? [of.minimum, of.maximum]
      : [of.minLength, of.maxLength]
  return {
    name,
    kind,
    required,
    label: text(of.title) || name,
    description: text(of.description),
    format: text(of.format),
    whole: of.type === 'integer',
    secret:
      (kind === 'text' || kind === 'number') &&
      (of.format === 'password' ||
        [name, of.title, of.description].some((words) => looksSecret(text(words)))),
    choices,
    ...(typeof least === 'number' && { least }),
    ...(typeof limit === 'number' && { most: limit }),
    preset: presetOf(kind, of.default),
  }
}

/** Words that name secrets, in a text or in a name such as api_key or userPassword. */
const secretWords =
  /\b(pass(word|phrase|code)s?|pwd|pin|otp|secrets?|credentials?|(api|access|auth|bearer|refresh|session|private|secret) (tokens?|keys?)|token|apikey|cvv|cvc|card number|recovery (code|phrase)|seed phrase)\b|密码|口令|密钥|令牌|验证码/i

function looksSecret(words: string): boolean {
  const apart = words.replace(/([a-z\d])([A-Z])/g, '$1 $2').replace(/[_-]+/g, ' ')
  return secretWords.test(apart)
}

function choicesOf({
  enum: plain,
  enumNames,
  oneOf,
  anyOf,
}: Record<string, unknown>): FormChoice[] {
  const titled = Array.isArray(oneOf) ? oneOf : anyOf
  if (Array.isArray(titled)) {
    return titled
      .slice(0, most)
      .map(record)
      .filter((choice) => 'const' in choice)
      .map((choice) => ({
        value: text(choice.const),
        label: text(choice.title) || text(choice.const),
      }))
  }
  if (!Array.isArray(plain)) return []
  const names: unknown[] = Array.isArray(enumNames) ? enumNames : []
  return plain
    .slice(0, most)
    .map((value, at) => ({ value: text(value), label: text(names[at]) || text(value) }))
}

function presetOf(kind: FormField['kind'], preset: unknown): FormValue {
  if (kind === 'switch') return preset === true
  if (kind === 'choices') return Array.isArray(preset) ? preset.map(text) : []
  return text(preset)
}

export const presets = (fields: readonly FormField[]): FormValues =>
  Object.fromEntries(fields.map(({ name, preset }) => [name, preset]))

/** What is wrong with a value; undefined if nothing. */
export type Fault =
  'missing' | 'number' | 'whole' | 'short' | 'long' | 'small' | 'large' | 'format' | 'few' | 'many'

export function faultOf(field: FormField, value: FormValue): Fault | undefined {
  const { kind, required, least = -Infinity, most: limit = Infinity } = field
  if (typeof value === 'boolean') return undefined
  if (value.length === 0) return required ? 'missing' : undefined
  if (typeof value !== 'string') {
    if (value.length < least) return 'few'
    return value.length > limit ? 'many' : undefined
  }
  if (kind === 'number') {
    const number = Number(value)
    if (!Number.isFinite(number) || !value.trim()) return 'number'
    if (field.whole && !Number.isInteger(number)) return 'whole'
    if (number < least) return 'small'
    return number > limit ? 'large' : undefined
  }
  if (kind !== 'text') return undefined
  const { length } = [...value]
  if (length < least) return 'short'
  if (length > limit) return 'long'
  return isOfFormat(field.format, value) ? undefined : 'format'
}

function isOfFormat(format: string, value: string): boolean {
  if (format === 'email') return /^[^\s@]+@[^\s@]+$/.test(value)
  if (format === 'uri') return URL.canParse(value)
  if (format === 'date') return /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value))
  if (format === 'date-time') return !Number.isNaN(Date.parse(value))
  return true
}

/** The answer: values of their types. Empty values are left out, unless they are required. */
export function contentOf(
  fields: readonly FormField[],
  values: FormValues,
): Record<string, unknown> {
  const content: Record<string, unknown> = Object.create(null)
  for (const field of fields) {
    const value = values[field.name] ?? field.preset
    const isEmpty = typeof value !== 'boolean' && value.length === 0
    if (isEmpty && !field.required) continue
    content[field.name] = field.kind === 'number' ? Number(value) : value
  }
  return { ...content }
}

const record = (value: unknown): Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {}

const text = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : ''
