import { translator } from '../i18n/i18n.svelte'

export const messages = {
  title: 'Side question',
  about:
    'Answered from this conversation, without tools. The conversation goes on as if it had not been asked; only its ledger has the cost.',
  question: 'Question',
  ask: 'Ask',
  asked: 'You asked: {question}',
  answering: '{model} reads the conversation…',
  cost: '{model} · {spent}',
} as const

export const own = translator('aside/messages', messages)
