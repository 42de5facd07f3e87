import { messages, own } from './messages'

const known = (key: string): key is keyof typeof messages => key in messages

/** What a tool is for, in a few words; empty for one that is not known. */
export function purpose(tool: string): string {
  const key = `does_${tool}`
  return known(key) ? own(key) : ''
}
