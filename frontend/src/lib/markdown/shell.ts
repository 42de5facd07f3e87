/** Blocks of code that a person can run in their terminal. */
import { getContext, setContext } from 'svelte'

const key = Symbol('shell')
type Run = (code: string) => void
export const provideShell = (run: Run) => setContext(key, run)
/** How to hand code to the user's terminal; undefined where there is none. */
export const shellHost = () => getContext<Run | undefined>(key)

const shells = new Set([
  'sh',
  'bash',
  'zsh',
  'fish',
  'shell',
  'console',
  'shellsession',
  'terminal',
])

/** What a block has for a shell; undefined if it is in another language. A transcript has commands after its prompts. */
export function shellCode(code: string, language: string): string | undefined {
  if (!shells.has(language.toLowerCase())) return undefined
  const lines = code.replace(/\n+$/, '').split('\n')
  const typed = lines.filter((line) => /^[$%❯] /.test(line)).map((line) => line.slice(2))
  const text = (typed.length > 0 ? typed : lines).join('\n').trim()
  return text === '' ? undefined : text
}
