import { screen } from '@testing-library/svelte'
import { beforeEach, expect, test } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import { renderInApp } from '../ui/testing'
import AllowanceMeter from './AllowanceMeter.svelte'

beforeEach(() => setLanguage('en'))

// The rate limit is shown in the header only when it will soon run out.
test.each<[string, number, boolean, string | undefined]>([
  ['plenty', 650, false, undefined],
  ['plenty, where it is always shown', 650, true, '65% of the rate limit left'],
  ['little', 50, false, '5% of the rate limit left'],
])('%s', (_, remaining, always, text) => {
  const report = { provider: 'acme', limit: { requests: { limit: 1000, remaining } } }
  renderInApp(AllowanceMeter, { report, provider: 'Acme', always })
  expect(screen.queryByRole('meter')?.textContent?.trim()).toBe(text)
})
