/** The definition of an MCP server as a form has it, and as it is written. */
import type { ServerDraft } from '../types.gen'

/** A variable of the environment, or a header. */
export type NamedValue = {
  name: string
  value: string
  /** Whether the value is kept in the keyring instead of the file. */
  secret: boolean
  /** Whether the keyring has a value already, which stays unless another is typed. */
  kept: boolean
}

export type ServerFields = {
  name: string
  transport: 'stdio' | 'http' | 'sse'
  /** The program and its arguments, as they would be typed in a shell. */
  command: string
  cwd: string
  url: string
  /** Variables of a program, or headers of a server that is reached over HTTP. */
  values: readonly NamedValue[]
  trusted: boolean
  shown: boolean
  /** Times in seconds; empty means the default. */
  start: string
  call: string
  client: string
  scopes: string
  port: string
}

export const emptyFields: ServerFields = {
  ...{ name: '', transport: 'stdio', command: '', cwd: '', url: '', values: [] },
  ...{ trusted: false, shown: false, start: '', call: '', client: '', scopes: '', port: '' },
}

export const emptyValue: NamedValue = { name: '', value: '', secret: false, kept: false }

/** Splits a command as a shell does, without expanding anything. */
export function shellWords(line: string): string[] {
  const words: string[] = []
  let word = ''
  for (const { 0: whole, 1: part = '', index } of line.matchAll(piece)) {
    if (part.startsWith("'")) word += part.replace(/^'|'$/g, '')
    else if (part.startsWith('"')) word += part.replace(/^"|"$/g, '').replace(/\\(["\\$`])/g, '$1')
    else word += part.startsWith('\\') ? part.slice(1) : part
    const next = line[index + whole.length]
    if (next !== undefined && /\S/.test(next)) continue
    words.push(word)
    word = ''
  }
  return words
}

/** A part of a word: quoted, escaped or plain. */
const piece = /\s*("(?:\\.|[^"\\])*"?|'[^']*'?|\\.?|[^\s"'\\]+)/gsy

const plain = /^[\w@%+=:,./~${}-]+$/

/** Writes words as a shell would need them. */
export const shellLine = (words: readonly string[]): string =>
  words.map((word) => (plain.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ')

export function fieldsOf(draft: ServerDraft): ServerFields {
  const { transport, options, oauth } = draft
  const isProgram = transport === 'stdio'
  return {
    name: draft.name,
    transport: isProgram || transport === 'sse' ? transport : 'http',
    command: shellLine(
      [draft.command ?? '', ...(draft.args ?? [])].filter((word, at) => at > 0 || word),
    ),
    cwd: draft.cwd ?? '',
    url: draft.url ?? '',
    values: Object.entries((isProgram ? draft.env : draft.headers) ?? {}).map(([name, value]) => ({
      ...{ name, value, secret: value === '', kept: value === '' },
    })),
    trusted: options.trusted ?? false,
    shown: options.always_shown ?? false,
    start: seconds(options.start_ms),
    call: seconds(options.call_ms),
    client: oauth?.client_id ?? '',
    scopes: oauth?.scopes?.join(' ') ?? '',
    port: oauth?.callback_port ? String(oauth.callback_port) : '',
  }
}

/** The definition that a form describes. Members without a field in the form stay as they were. */
export function draftOf(fields: ServerFields, before?: ServerDraft): ServerDraft {
  const [command, ...args] = shellWords(fields.command)
  const isProgram = fields.transport === 'stdio'
  const named = fields.values.filter(({ name }) => name.trim())
  const written = Object.fromEntries(
    named.map(({ name, value, secret }) => [name.trim(), secret ? '' : value]),
  )
  const secrets = Object.fromEntries(
    named
      .filter(({ secret, value }) => secret && value)
      .map(({ name, value }) => [name.trim(), value]),
  )
  const scopes = fields.scopes.split(/[\s,]+/).filter(Boolean)
  const oauth = {
    ...(fields.client.trim() && { client_id: fields.client.trim() }),
    ...(scopes.length > 0 && { scopes }),
    ...(Number(fields.port) > 0 && { callback_port: Number(fields.port) }),
  }
  return {
    name: fields.name.trim(),
    transport:
      before?.transport === 'claudeai-proxy' && !isProgram ? before.transport : fields.transport,
    ...(isProgram
      ? {
          ...(command && { command }),
          ...(args.length > 0 && { args }),
          ...(fields.cwd.trim() && { cwd: fields.cwd.trim() }),
          ...(named.length > 0 && { env: written }),
        }
      : {
          url: fields.url.trim(),
          ...(named.length > 0 && { headers: written }),
          ...(Object.keys(oauth).length > 0 && { oauth }),
        }),
    ...(Object.keys(secrets).length > 0 && { secrets }),
    options: {
      ...(fields.trusted && { trusted: true }),
      ...(fields.shown && { always_shown: true }),
      ...(milliseconds(fields.start) && { start_ms: milliseconds(fields.start) }),
      ...(milliseconds(fields.call) && { call_ms: milliseconds(fields.call) }),
    },
  }
}

const seconds = (ms: number | undefined) => (ms ? String(ms / 1000) : '')
const milliseconds = (text: string) => Math.round(Math.max(0, Number(text) || 0) * 1000)

/** Whether a name can be a server's: the tools of a server are named after it (OAS-407). */
export const isServerName = (name: string): boolean =>
  /^[^\s/\\](?:.{0,62}[^\s/\\])?$/.test(name) && !name.includes('__')

/** Whether a form says enough to connect. */
export const isWhole = ({ name, transport, command, url }: ServerFields): boolean =>
  isServerName(name.trim()) &&
  (transport === 'stdio' ? shellWords(command).length > 0 : isAddress(url.trim()))

/** Whether a text is an address, or will be once its variables are known. */
const isAddress = (text: string) => /^https?:\/\/[^\s/]/.test(text) || /^\$\{\w+/.test(text)

/**
 * Reads a definition as servers print it in their manuals: the JSON of one server, or a file with
 * several, of which the first is taken. Undefined if the text is something else.
 */
export function fieldsFromJSON(text: string): ServerFields | undefined {
  const whole = text.trim()
  // Manuals often show a part of a file, without the braces around it.
  const found = record(parse(whole)) ?? record(parse(`{${whole.replace(/,$/, '')}}`))
  if (!found) return undefined
  const holder = record(found.mcpServers) ?? record(found.servers) ?? found
  if (isDefinition(holder)) return fieldsOf(draftFrom('', holder))
  const [name, server] = Object.entries(holder)[0] ?? []
  const definition = record(server)
  return name && definition && isDefinition(definition)
    ? fieldsOf(draftFrom(name, definition))
    : undefined
}

const isDefinition = ({ command, url }: Record<string, unknown>) =>
  typeof command === 'string' || typeof url === 'string'

function draftFrom(name: string, of: Record<string, unknown>): ServerDraft {
  const url = typeof of.url === 'string' ? of.url : undefined
  return {
    name,
    transport: url === undefined ? 'stdio' : of.type === 'sse' ? 'sse' : 'http',
    url,
    command: typeof of.command === 'string' ? of.command : undefined,
    args: Array.isArray(of.args) ? of.args.map(String) : undefined,
    cwd: typeof of.cwd === 'string' ? of.cwd : undefined,
    env: strings(of.env),
    headers: strings(of.headers),
    options: {},
  }
}

const strings = (value: unknown) =>
  Object.fromEntries(Object.entries(record(value) ?? {}).map(([name, it]) => [name, String(it)]))

const record = (value: unknown): Record<string, unknown> | undefined =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether a value looks like a key or a password, so that it is better kept in the keyring. */
export const isSecretLike = ({ name, value }: NamedValue): boolean =>
  /key|token|secret|passw|authorization|credential/i.test(name) && !/\$\{\w+/.test(value)

/** Where a definition leads, on one line: its command or its address. */
export const targetOf = ({ command, args = [], url }: ServerDraft): string =>
  url ?? shellLine([command ?? '', ...args])
