import { expect, test } from 'vitest'
import type { Answer, Authority } from '../types.gen'
import { setLanguage } from '../i18n/i18n.svelte'
import { authorityWords } from './authority'

const rule = { text: 'Bash(git status)', decision: 'allow', scope: 'user' } as const
const asking = { text: 'Bash(git push *)', decision: 'ask', scope: 'project' } as const
const once: Answer = { decision: 'allow' }

test.each<[string, Partial<Authority> | undefined, Answer | undefined, string]>([
  ['nothing', undefined, undefined, 'There is no record of what decided.'],
  ['the mode', { by: 'mode' }, undefined, 'Allowed by the mode “Accept edits”.'],
  ['the mode', { by: 'mode', decision: 'deny' }, undefined, 'Denied by the mode “Accept edits”.'],
  [
    'the confinement',
    { by: 'mode', code: 'confined' },
    undefined,
    'Allowed because it ran confined.',
  ],
  [
    'a rule',
    { by: 'rule', rule },
    undefined,
    'Allowed by the rule Bash(git status), yours in every project.',
  ],
  [
    'a rule with hidden characters',
    { by: 'rule', decision: 'deny', rule: { ...rule, text: 'Bash(a\u202e)', scope: 'session' } },
    undefined,
    'Denied by the rule Bash(a⟨U+202E⟩), in this session.',
  ],
  ['a hook', { by: 'hook' }, undefined, 'Allowed by a hook.'],
  ['an answer', { by: 'person', approval: 'r1' }, once, 'You allowed it once.'],
  [
    'an answer for the session',
    { by: 'person', approval: 'r1' },
    { ...once, scope: 'session' },
    'You allowed it for this session.',
  ],
  [
    'an answer with a rule',
    { by: 'person', approval: 'r1' },
    { ...once, scope: 'local', rule: 'Bash(make *)' },
    'You allowed it and made the rule Bash(make *), yours in this project.',
  ],
  ['a lost answer', { by: 'person', approval: 'r1' }, undefined, 'You allowed it.'],
  [
    'a denial that a rule asked for',
    { by: 'person', approval: 'r1', decision: 'deny', rule: asking },
    { decision: 'deny' },
    'You denied it. The rule Bash(git push *), shared with the project, asked.',
  ],
  [
    'an earlier answer',
    { by: 'person' },
    undefined,
    'You allowed identical calls for this session.',
  ],
  [
    'nobody',
    { by: 'rule', rule: asking, decision: 'deny', approval: 'r1' },
    undefined,
    'Nobody could be asked, so it was denied.',
  ],
])('OAS-630: %s is named', (_, given, answer, want) => {
  setLanguage('en')
  const authority = given && ({ decision: 'allow', mode: 'acceptEdits', ...given } as Authority)
  expect(authorityWords(authority, answer)).toBe(want)
})
