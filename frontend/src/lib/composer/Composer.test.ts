import { fireEvent, screen, waitFor } from '@testing-library/svelte'
import { tick } from 'svelte'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { Catalog } from '../state/catalog.svelte'
import { Attachments, readFiles, writeFiles } from '../state/attachments.svelte'
import { Commands } from '../state/commands.svelte'
import { setLanguage } from '../i18n/i18n.svelte'
import { renderInApp } from '../ui/testing'
import { ApiError, type Call } from '../api'
import type { Activity } from '../model/activity'
import Composer from './Composer.svelte'
import { writeDraft } from '../state/drafts.svelte'

beforeEach(() => {
  setLanguage('en')
  writeDraft('s', '')
  writeFiles('s', [])
})

/** The commands of a server, of which one completes its argument, and the files of the project. */
const commands = new Commands(
  (async (method: string) =>
    method === 'files.list'
      ? { files: ['docs/menu.md', 'src/Menu.ts', '"odd"'] }
      : method === 'commands.complete'
        ? { values: ['red', 'rose'] }
        : {
            commands: [
              {
                name: 'mcp__hub__paint',
                source: 'hub',
                arguments: [{ name: 'colour', required: true }],
              },
              { name: 'mcp__hub__greet', source: 'hub', description: 'Says hello' },
              {
                name: 'knit',
                kind: 'skill',
                source: 'knit/SKILL.md',
                aliases: ['kn'],
                hint: '[what]',
                description: 'Knits something',
              },
            ],
          }) as unknown as Call,
  () => {},
)

/** Takes every file but those that are larger than a byte for each of the letters of its name. */
const attachments = new Attachments(
  (async (method: string, { name, path }: { name: string; path: string }) => {
    if (method === 'attach.read') return { text: `the text of ${path}` }
    if (name === 'huge.bin') throw new ApiError({ message: 'It is too large.', next: 'Copy it.' })
    return {
      path: `/a/attached/00000000/${name}`,
      mention: `@/a/attached/00000000/${name}`,
      kind: name.endsWith('.png') ? 'picture' : 'text',
    }
  }) as unknown as Call,
  (file) => (file.name.endsWith('.heic') ? Promise.reject(new Error()) : Promise.resolve(file)),
)

function show(state: Activity, isTaken = true, queued = 0, suggestion?: string) {
  const onputaway = vi.fn()
  const onremember = vi.fn()
  const onsend = vi.fn(async () => isTaken)
  const onrun = vi.fn(async () => isTaken)
  const onqueue = vi.fn(async () => isTaken)
  const props = {
    catalog: {} as Catalog,
    commands,
    attachments,
    settings: undefined,
    owner: 's',
    state,
    stopping: false,
    queued,
    suggestion,
    onsend,
    onrun,
    onqueue,
    onstop: () => {},
    onputaway,
    onconfigure: () => {},
    onkeys: () => {},
    onrecall: async () => sent,
    onremember,
  }
  renderInApp(Composer, props)
  const field = screen.getByRole<HTMLTextAreaElement>('textbox')
  return { onsend, onrun, onqueue, onputaway, onremember, field }
}

/** What was sent before. */
const sent = ['The newest', 'An older one']

const type = (field: HTMLElement, value: string) => fireEvent.input(field, { target: { value } })

// LOOP-132, LOOP-133
test.each([
  ['rest', {}, 'send'],
  ['rest', { ctrlKey: true }, 'send'],
  ['running', {}, 'steer'],
  ['running', { ctrlKey: true }, 'follow_up'],
  ['running', { metaKey: true }, 'follow_up'],
  ['command', {}, 'follow_up'],
  ['running', { shiftKey: true }, undefined],
  ['running', { isComposing: true }, undefined],
] as const)('in the state %s, Enter with %o does %s', async (state, keys, want) => {
  const { onsend, onqueue, field } = show(state)
  await type(field, ' Now ')
  await fireEvent.keyDown(field, { key: 'Enter', ...keys })
  expect(onsend.mock.calls).toEqual(want === 'send' ? [['Now']] : [])
  expect(onqueue.mock.calls).toEqual(want && want !== 'send' ? [[want, 'Now']] : [])
  await tick()
  expect(field.value).toBe(want ? '' : ' Now ')
})

test('text that is not accepted stays in the field', async () => {
  const { field } = show('running', false)
  await type(field, 'Now')
  await fireEvent.keyDown(field, { key: 'Enter' })
  await tick()
  expect(field.value).toBe('Now')
})

describe('files that go with a message', () => {
  const png = new File([new Uint8Array([1, 2, 3])], 'shot.png', { type: 'image/png' })
  const paste = (field: HTMLElement, files: readonly File[], text = '') =>
    fireEvent.paste(field, { clipboardData: { files, getData: () => text } })
  const chips = () => screen.queryAllByRole('listitem').map((it) => it.textContent.trim())

  // OC-07
  test('a pasted picture is mentioned behind the text, and taken from the draft once it was accepted', async () => {
    const { onsend, field } = show('rest')
    await paste(field, [png])
    await waitFor(() => expect(chips()).toEqual(['shot.png']))
    await type(field, 'What is this?')
    await fireEvent.keyDown(field, { key: 'Enter' })
    expect(onsend.mock.calls).toEqual([['What is this?\n\n@/a/attached/00000000/shot.png']])
    await waitFor(() => expect(chips()).toEqual([]))
    expect([field.value, readFiles('s')]).toEqual(['', []])
  })

  test('a picture is sent without a text, and stays if it was not accepted', async () => {
    const { onqueue, field } = show('running', false)
    await paste(field, [png])
    await waitFor(() => expect(chips()).toEqual(['shot.png']))
    await fireEvent.keyDown(field, { key: 'Enter' })
    expect(onqueue.mock.calls).toEqual([['steer', '@/a/attached/00000000/shot.png']])
    await tick()
    expect(chips()).toEqual(['shot.png'])
  })

  test('a long text becomes a file, which can be put into the message', async () => {
    const { field } = show('rest')
    await type(field, 'See: ')
    await paste(field, [], 'line\n'.repeat(100))
    await waitFor(() => expect(chips()).toEqual(['pasted text.txt']))
    expect(field.value).toBe('See: ')
    await fireEvent.click(screen.getByRole('button', { name: 'pasted text.txt' }))
    await waitFor(() =>
      expect(field.value).toContain('the text of /a/attached/00000000/pasted text.txt'),
    )
    expect(chips()).toEqual([])
  })

  test('a short text, and a table that is a picture too, are pasted as ever', async () => {
    const { field } = show('rest')
    expect(await paste(field, [png], 'a\tb')).toBe(true) // the field's own paste goes on
    expect(chips()).toEqual([])
  })

  test.each([
    [[new File(['x'], 'huge.bin')], 'It is too large. Copy it.'],
    [
      [new File(['x'], 'photo.heic', { type: 'image/heic' })],
      'photo.heic cannot be shown to models (HEIC). Save it as PNG or JPEG and attach that.',
    ],
    [[new File([], 'nothing.txt')], 'nothing.txt is empty, so it was not attached.'],
  ])('a file that cannot be attached is named, and the draft stays', async (files, words) => {
    const { field } = show('rest')
    await type(field, 'Look')
    await paste(field, files)
    await waitFor(() => expect(screen.getByRole('alert').textContent).toBe(words))
    expect([field.value, chips()]).toEqual(['Look', []])
  })

  test('at most 20 files go with a message', async () => {
    const { field } = show('rest')
    await paste(
      field,
      Array.from({ length: 21 }, (_, n) => new File(['x'], `${n}.txt`)),
    )
    await waitFor(() => expect(screen.getByRole('alert').textContent).toContain('20.txt was not'))
    expect(chips()).toHaveLength(20)
  })

  test('files that are dropped anywhere are attached, but no folder', async () => {
    show('rest')
    const drop = async (files: readonly File[], folder?: string) => {
      const items = [{ webkitGetAsEntry: () => ({ isDirectory: !!folder, name: folder }) }]
      const dataTransfer = { types: ['Files'], files, items }
      await fireEvent.dragOver(document.body, { dataTransfer })
      expect(screen.getByText('Drop files to attach them')).toBeTruthy()
      expect(await fireEvent.drop(document.body, { dataTransfer })).toBe(false)
    }
    await drop([png])
    await waitFor(() => expect(chips()).toEqual(['shot.png']))
    await drop([], 'src')
    expect(screen.getByRole('alert').textContent).toBe(
      'src is a folder. Mention it with @ instead.',
    )
    await fireEvent.click(screen.getByRole('button', { name: 'Remove shot.png' }))
    expect(chips()).toEqual([])
  })

  test('a command takes no files along, and they stay', async () => {
    const { onrun, field } = show('rest')
    await paste(field, [png])
    await waitFor(() => expect(chips()).toEqual(['shot.png']))
    await type(field, '! ls')
    await fireEvent.keyDown(field, { key: 'Enter' })
    expect(onrun.mock.calls).toEqual([['ls']])
    expect(chips()).toEqual(['shot.png'])
  })
})

describe('while a message is on its way', () => {
  /** Sends “One”, and returns the functions that accept or refuse each message. */
  async function sendOne(state: Activity = 'rest') {
    const { onsend, onrun, onqueue, field } = show(state)
    const answers: ((isTaken: boolean) => void)[] = []
    const slow = () => new Promise<boolean>((resolve) => answers.push(resolve))
    for (const way of [onsend, onqueue, onrun]) way.mockImplementation(slow)
    const send = async (typed: string) => {
      await type(field, typed)
      await fireEvent.keyDown(field, { key: 'Enter' })
    }
    await send('One')
    return { onsend, onrun, onqueue, field, answers, send }
  }

  test.each([
    ['rest', 'follow_up'],
    ['running', 'steer'],
  ] as const)('in the state %s, another one follows it', async (state, verb) => {
    const { onsend, onqueue, field, answers, send } = await sendOne(state)
    await send('OneTwo')
    await send('OneTwo')
    await send('OneTwoThree')
    expect(onsend.mock.calls.length + onqueue.mock.calls.length).toBe(1)
    for (const left of ['TwoThree', 'Three', '']) {
      answers.shift()!(true)
      await waitFor(() => expect(field.value).toBe(left))
    }
    expect([...onsend.mock.calls, ...onqueue.mock.calls]).toEqual([
      state === 'rest' ? ['One'] : ['steer', 'One'],
      [verb, 'Two'],
      [verb, 'Three'],
    ])
  })

  test('nothing follows it if it is refused', async () => {
    const { onqueue, field, answers, send } = await sendOne()
    await send('One two')
    answers.shift()!(false)
    await screen.findByRole('button', { name: 'Send' })
    expect(field.value).toBe('One two')
    expect(onqueue).not.toHaveBeenCalled()
    await fireEvent.keyDown(field, { key: 'Enter' })
    expect(answers).toHaveLength(1) // it can be sent again
  })

  test('a command waits in the field until it can be run', async () => {
    const { onrun, field, answers, send } = await sendOne()
    await send('One!ls')
    answers.shift()!(true)
    await waitFor(() => expect(field.value).toBe('!ls'))
    expect(onrun).not.toHaveBeenCalled()
    await fireEvent.keyDown(field, { key: 'Enter' })
    expect(onrun.mock.calls).toEqual([['ls']])
  })
})

test('the stop button says what is kept', () => {
  show('running', true, 2)
  const stop = screen.getByRole('button', { name: 'Stop' })
  expect(document.getElementById(stop.getAttribute('aria-describedby')!)?.textContent).toMatch(
    /files already changed stay changed\. 2 queued messages wait\.$/,
  )
})

describe('a suggested message', () => {
  const suggested = () => show('rest', true, 0, 'Test it')

  // OAS-102
  test.each(['Tab', 'a click'])('is put into the field by %s, and never sent', async (way) => {
    const { onsend, field } = suggested()
    expect(field.placeholder).toBe('Suggested: Test it')
    const use = screen.getByRole('button', { name: 'Use the suggestion: Test it' })
    if (way === 'Tab') expect(await fireEvent.keyDown(field, { key: 'Tab' })).toBe(false)
    else await fireEvent.click(use)
    await tick()
    expect(field.value).toBe('Test it')
    expect(document.activeElement).toBe(field)
    expect(onsend).not.toHaveBeenCalled()
    expect(screen.queryByRole('button', { name: /^Use/ })).toBeNull()
  })

  // OAS-102
  test('is dismissed by Escape, which nothing else handles', async () => {
    const { onputaway, field } = suggested()
    const heard = vi.fn()
    window.addEventListener('keydown', heard)
    await fireEvent.keyDown(field, { key: 'Escape' })
    window.removeEventListener('keydown', heard)
    expect(onputaway).toHaveBeenCalledOnce()
    expect(heard).not.toHaveBeenCalled()
  })

  test('is announced once, even if it disappears and returns while the user types', async () => {
    const { field } = suggested()
    const told = () => screen.getByRole('status', { name: 'Suggestion' }).textContent?.trim()
    await tick()
    const first = told()
    expect(first).toMatch(/^Suggested: Test it\. Tab /)
    await type(field, 'No')
    expect(told()).toBe(first)
    await type(field, '')
    expect(told()).toBe(first)
  })

  test.each<[string, Parameters<typeof show>, string, KeyboardEventInit]>([
    ['without a suggestion', ['rest'], '', {}],
    ['while a turn runs', ['running', true, 0, 'Test it'], '', {}],
    ['while the field has text', ['rest', true, 0, 'Test it'], 'No', {}],
    ['if the suggestion is a command', ['rest', true, 0, ' !ls'], '', {}],
    ['if the suggestion is a hidden command', ['rest', true, 0, '\u200b!ls'], '', {}],
    ['with Shift', ['rest', true, 0, 'Test it'], '', { shiftKey: true }],
    ['in an input method', ['rest', true, 0, 'Test it'], '', { isComposing: true }],
  ])('Tab does not take a suggestion %s', async (_, how, written, keys) => {
    const { field } = show(...how)
    await type(field, written)
    expect(await fireEvent.keyDown(field, { key: 'Tab', ...keys })).toBe(true)
    expect(field.value).toBe(written)
  })
})

// OAS-102
test.each([
  ['rest', '!git status ', ['git status'], ''],
  ['rest', '!', undefined, '!'],
  ['running', '!git status', undefined, '!git status'],
  ['command', '!git status', undefined, '!git status'],
] as const)('in the state %s, “%s” runs %s and leaves “%s”', async (state, typed, ran, left) => {
  const { onsend, onrun, onqueue, field } = show(state)
  await type(field, typed)
  screen.getByText('Run a command')
  await fireEvent.keyDown(field, { key: 'Enter' })
  await tick()
  expect(onrun.mock.calls).toEqual(ran ? [ran] : [])
  expect([...onsend.mock.calls, ...onqueue.mock.calls]).toEqual([])
  expect(field.value).toBe(left)
})

test('a command that is not accepted stays in the field', async () => {
  const { field } = show('rest', false)
  await type(field, '!ls')
  await fireEvent.keyDown(field, { key: 'Enter' })
  await tick()
  expect(field.value).toBe('!ls')
})

test('a command cannot run during a turn, and the composer says so', async () => {
  const { field } = show('running')
  await type(field, '!ls')
  screen.getByText(/once the turn is over/)
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Run' }).disabled).toBe(true)
  expect(screen.getByRole('button', { name: 'Stop' })).toBeTruthy()
})

test('an exclamation mark after a space begins a message, not a command', async () => {
  const { onsend, field } = show('rest')
  await type(field, ' !important')
  await fireEvent.keyDown(field, { key: 'Enter' })
  expect(onsend.mock.calls).toEqual([['!important']])
})

describe('a slash', () => {
  const slashed = async (typed: string) => {
    await commands.load()
    const shown = show('rest')
    await type(shown.field, typed)
    const press = (key: string) => fireEvent.keyDown(shown.field, { key })
    const chosen = () => document.querySelector('[role=option][aria-selected=true]')?.textContent
    return { ...shown, press, chosen }
  }

  test('offers commands, of which the keyboard takes one', async () => {
    const { field, press, chosen, onsend } = await slashed('/')
    expect(screen.getAllByRole('option')).toHaveLength(3)
    await press('ArrowDown')
    expect(chosen()).toContain('/mcp__hub__greet')
    await press('ArrowDown')
    expect(chosen()).toContain('/mcp__hub__paint')
    await press('Enter')
    expect(field.value).toBe('/mcp__hub__paint ')
    expect(onsend).not.toHaveBeenCalled()
  })

  test('completes an argument, which Enter alone does not take', async () => {
    const { field, press, onsend } = await slashed('/mcp__hub__paint r')
    await waitFor(() => expect(screen.getAllByRole('option')).toHaveLength(2))
    await press('ArrowDown')
    await press('ArrowDown')
    await press('Tab')
    expect(field.value).toBe('/mcp__hub__paint rose')
    await press('Enter')
    expect(onsend).toHaveBeenCalledWith('/mcp__hub__paint rose')
  })

  test('is closed by Escape until something else is typed', async () => {
    const { field, press } = await slashed('/')
    await press('Escape')
    expect(screen.queryByRole('listbox')).toBeNull()
    await type(field, '/gr')
    expect(screen.getAllByRole('option')).toHaveLength(1)
  })

  test.each(['/kn', '/kni'])(
    '%j completes to a skill, which the next Enter sends',
    async (typed) => {
      const { field, press, chosen, onsend } = await slashed(typed)
      expect(chosen()).toContain('skill in knit/SKILL.md')
      await press('Tab')
      expect(field.value).toBe(typed === '/kn' ? '/kn ' : '/knit ')
      screen.getByText('[what]')
      const whole = `${field.value}a "scarf`
      await type(field, whole)
      await press('Enter')
      expect(onsend).toHaveBeenCalledWith(whole)
    },
  )

  test('Enter sends a skill whose name is whole', async () => {
    const whole = await slashed('/knit')
    await whole.press('Enter')
    expect(whole.onsend).toHaveBeenCalledWith('/knit')
  })

  test('Enter takes no command for the words that describe it', async () => {
    const { press, onsend } = await slashed('/something')
    expect(screen.getAllByRole('option')).toHaveLength(1)
    await press('Enter')
    expect(onsend).toHaveBeenCalledWith('/something')
  })

  test('a skill follows the turn that runs, and the composer says so', async () => {
    await commands.load()
    const { field, onqueue } = show('running')
    await type(field, '/knit a scarf')
    screen.getByText(/A skill does not steer/, { selector: 'p' })
    expect(screen.queryByRole('button', { name: /Steer/ })).toBeNull()
    await fireEvent.keyDown(field, { key: 'Enter' })
    expect(onqueue.mock.calls).toEqual([['follow_up', '/knit a scarf']])
  })

  test.each(['/etc/hosts is wrong', 'see /', '/nothing'])('%j is a message', async (typed) => {
    const { press, onsend } = await slashed(typed)
    expect(screen.queryByRole('listbox')).toBeNull()
    await press('Enter')
    expect(onsend).toHaveBeenCalledWith(typed)
  })
})

// OC-07
describe('files after an at sign', () => {
  const options = () => screen.queryAllByRole('option').map((it) => it.textContent.trim())

  test('are offered where the user types, and a key takes one', async () => {
    const { field, onsend } = show('rest')
    field.focus()
    await type(field, 'Read @men now')
    field.setSelectionRange(9, 9)
    document.dispatchEvent(new Event('selectionchange'))
    await waitFor(() => expect(options()).toEqual(['Menu.ts  src/', 'menu.md  docs/']))
    expect(screen.getByRole('listbox', { name: 'Files, symbols, sessions and resources' }).id).toBe(
      field.getAttribute('aria-controls'),
    )
    await fireEvent.keyDown(field, { key: 'ArrowDown' })
    await fireEvent.keyDown(field, { key: 'Enter' })
    expect(field.value).toBe('Read @docs/menu.md now')
    await waitFor(() => expect(field.selectionStart).toBe('Read @docs/menu.md'.length))
    expect(options()).toEqual([])
    expect(onsend).not.toHaveBeenCalled()
    await fireEvent.keyDown(field, { key: 'Enter' })
    expect(onsend).toHaveBeenCalledWith('Read @docs/menu.md now')
  })

  test('a folder goes on, and Escape closes the menu until something else is typed', async () => {
    const { field } = show('rest')
    field.focus()
    await type(field, '@do')
    await waitFor(() => expect(options()).toEqual(['docs/', 'menu.md  docs/']))
    await fireEvent.keyDown(field, { key: 'Tab' })
    await waitFor(() => expect(options()).toEqual(['menu.md  docs/']))
    expect(field.value).toBe('@docs/')
    await fireEvent.keyDown(field, { key: 'Escape' })
    expect(options()).toEqual([])
    await type(field, '@docs/m')
    await waitFor(() => expect(options()).toEqual(['menu.md  docs/']))
  })

  test.each(['!git log @{u}', '!cat @me', 'me@me', '/mcp__hub__paint @me'])(
    'none are offered for %s',
    async (text) => {
      const { field } = show('rest')
      field.focus()
      await type(field, text)
      await tick()
      expect(options().filter((it) => it.includes('menu.md'))).toEqual([])
    },
  )

  test('an at sign alone is sent', async () => {
    const { field, onsend } = show('rest')
    field.focus()
    await type(field, 'What is @')
    await waitFor(() => expect(options().length).toBe(4))
    await fireEvent.keyDown(field, { key: 'Enter' })
    expect(onsend).toHaveBeenCalledWith('What is @')
  })
})

// OC-05
test('Up in the empty field brings back what was sent, and a large field has lines of its own', async () => {
  const { field, onsend } = show('rest')
  await fireEvent.keyDown(field, { key: 'ArrowUp' })
  await waitFor(() => expect(field.value).toBe('The newest'))
  await fireEvent.keyDown(field, { key: 'ArrowUp' })
  await waitFor(() => expect(field.value).toBe('An older one'))
  await fireEvent.click(screen.getByRole('button', { name: 'Large editor' }))
  await fireEvent.keyDown(field, { key: 'Enter' })
  expect(onsend).not.toHaveBeenCalled()
  await fireEvent.keyDown(field, { key: 'Enter', ctrlKey: true })
  expect(onsend).toHaveBeenCalledWith('An older one')
})

// OC-05
test('a line after a number sign is remembered, and a text that only begins like one is sent', async () => {
  const { field, onsend, onremember } = show('rest')
  await type(field, '# Use tabs')
  await fireEvent.keyDown(field, { key: 'Enter' })
  expect(onremember).toHaveBeenCalledWith('Use tabs', 'project')
  expect(onsend).not.toHaveBeenCalled()
  await type(field, '#12 fails')
  await fireEvent.keyDown(field, { key: 'Enter' })
  expect(onsend).toHaveBeenCalledWith('#12 fails')
})
