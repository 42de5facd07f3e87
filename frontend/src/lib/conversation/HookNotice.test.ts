import { fireEvent, render, screen } from '@testing-library/svelte'
import { flushSync } from 'svelte'
import { afterEach, expect, test, vi } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import type { HookEnd } from '../types.gen'
import HookNotice from './HookNotice.svelte'

afterEach(() => setLanguage('en'))

const deny = { name: 'guard', decision: 'deny', message: 'No keys.', duration_ms: 1 } as const

function show(hook: HookEnd, unfolded = true) {
  const onlog = vi.fn()
  render(HookNotice, { hook, unfolded, ontoggle: () => {}, onlog })
  return onlog
}

test.each<[Partial<HookEnd>, string, string]>([
  [{ point: 'preCompact' }, 'The hook guard prevented the compaction', '钩子 guard 阻止了压缩'],
  [{ point: 'stop' }, 'The hook guard made the agent go on', '钩子 guard 要求智能体继续'],
  [{ point: 'stop', stopped: true }, 'The hook guard ended the turn', '钩子 guard 结束了这个回合'],
  [{ failed: true }, 'The hook guard failed', '钩子 guard 执行失败'],
  [
    { point: 'userPromptSubmit', decision: undefined },
    'The hook guard responded',
    '钩子 guard 作出了回应',
  ],
])('%j says what the hook did', (change, english, chinese) => {
  const hook = { point: 'preCompact' as const, ...deny, ...change }
  show(hook)
  screen.getByRole('button', { name: english })
  setLanguage('zh-CN')
  flushSync()
  screen.getByRole('button', { name: chinese })
})

test.each<[Partial<HookEnd>, string, string]>([
  [
    { point: 'userPromptSubmit' },
    'The hook guard refused the message',
    '钩子 guard 拒绝了这条消息',
  ],
  [{ decision: undefined, message: '', said: 'No keys.' }, 'The hook guard says', '钩子 guard 说'],
])('%j says it to the user at once', (change, english, chinese) => {
  show({ point: 'preCompact' as const, ...deny, ...change }, false)
  screen.getByText(english)
  screen.getByText('No keys.')
  setLanguage('zh-CN')
  flushSync()
  screen.getByText(chinese)
})

test('the words of a hook hide and reorder nothing, and lead into the log', async () => {
  const hostile = 'a\u202eb\u200b<b>'
  const notice = { title: hostile, body: hostile, level: 'info' } as const
  const hook: HookEnd = {
    ...{ ...deny, point: 'userPromptSubmit', name: hostile, message: hostile, said: hostile },
    notice,
  }
  const onlog = show(hook, true)
  const { textContent } = document.body
  expect(textContent).not.toMatch(/[\u202e\u200b]/)
  expect(textContent!.split('a⟨U+202E⟩b⟨U+200B⟩<b>')).toHaveLength(6)
  expect(textContent).not.toContain('deny')
  await fireEvent.click(screen.getByRole('button', { name: 'Show it in the log of hooks' }))
  expect(onlog).toHaveBeenCalledWith(hook)
})
