import { type View, wrote } from '../model/entries'
import type { Event } from '../types.gen'
import { putBack, readDraft } from './drafts.svelte'

/**
 * Gives messages that hooks refused back to the message field, as far as these events tell of them.
 * A message that another page has given back already, or that was cut for display, stays in the
 * conversation alone.
 */
export function giveBack(session: string, view: View, events: readonly Event[]): void {
  for (const event of events) {
    const text = refusedText(view, event)
    if (text && !readDraft(session).includes(text)) putBack(session, text)
  }
}

function refusedText(view: View, event: Event): string | undefined {
  if (event.kind === 'steering_injected') return event.data.refused ? event.data.text : undefined
  if (event.kind !== 'processing_end' || event.data.reason !== 'refused') return undefined
  const prompt = view.entries.findLast((entry) => entry.type === 'prompt' && !entry.steered)
  return prompt?.type === 'prompt' && !prompt.size ? wrote(prompt) : undefined
}
