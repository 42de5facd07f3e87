import { translator } from '../i18n/i18n.svelte'

export const messages = {
  tokens: 'Tokens',
  share: 'Share',
  kind_fresh: 'Fresh input',
  kind_cache_read: 'Read from cache',
  kind_cache_write: 'Written to cache',
  kind_output: 'Output',
  kind_reasoning: 'Reasoning',
  partly: 'Some requests did not report their tokens, so that these are minimums.',
  turn: 'Turn',
  turn_name: 'Turn {n}',
  agent: 'Agent',
  own: 'This session itself',
  saved: 'the cache saved {cost}',
  apart: 'What agents cost is in their own lines, not in those of turns.',
  purpose: 'For',
  purpose_turn: 'Turns',
  purpose_title: 'Titles',
  purpose_fetch: 'Questions about pages',
  purpose_search: 'Searches of the web',
  purpose_shorten: 'Long results shortened',
  purpose_suggestion: 'Suggestions',
  purpose_subagent: 'Agents',
  purpose_summary: 'Summaries',
  purpose_aside: 'Side questions',
  purpose_commit: 'Commit messages',
  purpose_sampling: 'Requests of servers',
  chart_day: 'Cost by day, from {from} to {to}. The most is {most}.',
  chart_turn: 'Cost by turn, from turn {from} to turn {to}. The most is {most}.',
  tools_warning:
    'A change of the tools makes the next request about {cost} dearer, because the cache breaks.',
  model_warning:
    'With {model} the next request reads {tokens} tokens anew, for about {cost}. The current model has them cached and takes about {warm}.',
  model_price: 'With {model} the next request reads {tokens} tokens anew, for about {cost}.',
  model_cached: 'The conversation is cached: the next request takes about {warm}.',
  reads_anew: 'reads the conversation anew, about {cost}',
  model_anew:
    'With {model} the next request reads {tokens} tokens anew: only the current model has them cached.',
  model_large:
    'The conversation has {tokens} tokens, more than {model} takes. It is summarised before the next request.',
  more: { one: 'Show {n} more', other: 'Show {n} more' },
} as const

export const own = translator('cost/messages', messages)
