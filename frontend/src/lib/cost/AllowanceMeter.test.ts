import { screen } from '@testing-library/svelte'
import { beforeEach, expect, test } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import { renderInApp } from '../ui/testing'
import AllowanceMeter from './AllowanceMeter.svelte'

beforeEach(() => setLanguage('en'))

// What is left of a key's allowance stands beside the context: it is said in
// words there, and only when it is about to stop the work.
test.each<[string, number, boolean, string | undefined]>([
  ['plenty', 650, false, undefined],
  ['plenty, where it is always said', 650, true, '65 % of the rate limit left'],
  ['little', 50, false, '5 % of the rate limit left'],
])('%s', (_, remaining, always, text) => {
  const report = { provider: 'acme', limit: { requests: { limit: 1000, remaining } } }
  renderInApp(AllowanceMeter, { report, provider: 'Acme', always })
  expect(screen.queryByRole('meter')?.textContent?.trim()).toBe(text)
})
