import MarkdownIt from 'markdown-it'
import { beforeEach, expect, test } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import type { AnswerEntry, CommandEntry, Entry, PromptEntry, ToolEntry } from '../model/entries'
import { callOf as call } from '../model/testing'
import { closed, code, quoted, turnMarkdown } from './turnText'

beforeEach(() => setLanguage('en'))

const prompt = (text: string): PromptEntry => ({ type: 'prompt', key: text, seq: 1, text })
const answer = (text: string): AnswerEntry => ({
  type: 'answer',
  key: text,
  text,
  thinking: 'Hm.',
  textFrom: 0,
  thinkingFrom: 0,
  streaming: false,
})
const command: CommandEntry = {
  type: 'command',
  key: 'l1',
  id: '1',
  command: 'make\ntest',
  status: 'failed',
  output: '',
  outputFrom: 0,
  startedAt: 0,
}
const failure: Entry = {
  type: 'notice',
  key: 'e1',
  notice: 'error',
  failure: { code: 'network', message: 'No `answer`', retryable: true } as never,
}

const markdown = (...entries: Entry[]) => {
  const said = entries.flatMap((entry) => ('text' in entry ? [[entry, entry.text] as const] : []))
  return turnMarkdown(entries, new Map(said))
}

test('a turn has its prompt, its answers, and its calls in one line each', () => {
  const edited = { changes: [{ path: 'a.go', added: 2, removed: 1 }] } as ToolEntry['details']
  const text = markdown(
    prompt('Fix it\n\nnow'),
    answer('I look.'),
    call('Read', { file_path: 'a.go' }),
    call('Edit', { file_path: 'a.go' }, { details: edited }),
    answer(''),
    call('Bash', { command: 'go test' }, { status: 'denied' }),
    command,
    failure,
    answer('**Done.**\n'),
  )
  expect(text).toBe(`> Fix it
>
> now

I look.

- \`Read a.go\`
- \`Edit a.go\` — +2 −1
- \`Bash go test\` — denied
- \`!make test\` — failed
- Failed: \`\` No \`answer\` \`\`

**Done.**`)
})

test.each([
  ['`', '`` ` ``'],
  ['a ``` b', '```` a ``` b ````'],
  ['rm\u202e -rf\n/', '`rm⟨U+202E⟩ -rf /`'],
  ['x'.repeat(300), `\`${'x'.repeat(200)}…\``],
])('%s stays one piece of code', (text, want) => {
  expect(code(text)).toBe(want)
})

test('a quote has every line of its text', () => {
  expect(quoted('a\r\n# b\r> c\n')).toBe('> a\n> # b\n> > c')
})

const open = new MarkdownIt({ html: true })

/** Whether what follows a text begins on its own. */
function endsBefore(text: string): boolean {
  const tokens = open.parse(`${text}\n\n> next`, {})
  return tokens.at(-5)?.type === 'blockquote_open' && tokens.at(-5)?.level === 0
}

// Code or a comment that an answer leaves open must not take in the calls and answers after it.
test.each([
  '```go\nfunc main() {',
  'x\n\n~~~~\n```\nnot closed',
  '<!-- hidden',
  '<!-- hidden\n\n```',
  '<script>\nsteal()',
  '<pre>\n\nleft open',
  '- ```\n  in a list',
  'plain',
  '',
])('an answer such as %j ends before the next block', (text) => {
  expect(endsBefore(closed(text))).toBe(true)
  expect(closed(text)).toContain(text.split('\n')[0])
})

test.each(['```\ncode\n```', 'a\n\n<!-- closed -->', '1. one'])(
  '%j stays as it was written',
  (text) => {
    expect(closed(text)).toBe(text)
  },
)
