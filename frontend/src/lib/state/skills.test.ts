import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Call } from '../api'
import { ApiError } from '../api'
import type { Envelope, SkillRow, SkillShown } from '../types.gen'
import { Skills } from './skills.svelte'
import { Trust } from './trust.svelte'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  for (const skills of made.splice(0)) skills.leave()
  vi.useRealTimers()
})

const made: Skills[] = []

const row: SkillRow = {
  id: 'a',
  name: 'release',
  kind: 'skill',
  state: 'ready',
  place: { scope: 'user', file: '~/.agent/skills/release/SKILL.md' },
  usage: {},
  weight: { listed: 0, body: 0 },
}
const change = { events: [{ kind: 'skills_change' }] } as Envelope

/** One skill on a disk, which other programs change as well. */
function disk(text = 'one\n') {
  let shown: SkillShown | undefined = { row, text, version: text, limits: {} }
  const write = (text: string) => (shown = { row, text, version: text, limits: {} })
  const checked: string[] = []
  let meanwhile = () => {}
  const whileChecking = (work: () => void) => (meanwhile = work)
  const methods: Record<string, (args: never) => unknown> = {
    'skills.list': () => ({ skills: shown ? [row] : [], tokens: 1, budget: 2 }),
    'skills.show': () => {
      if (!shown) throw new ApiError({ message: 'It is gone.' })
      return shown
    },
    'skills.check': ({ text }: { text: string }) => {
      checked.push(text)
      meanwhile()
      meanwhile = () => {}
      return { findings: [{ rule: text.trim() }] }
    },
    'skills.save': ({ id, version, text }: { id?: string; version?: string; text: string }) => {
      if (id && version !== shown?.version) throw new ApiError({ message: 'It was changed.' })
      write(text)
      return { id: 'a' }
    },
    'skills.templates': () => ({
      templates: [
        { name: 'plain', kind: 'skill', text: '---\nname: it\n---\n' },
        { name: 'script', kind: 'skill', text: 'script' },
      ],
    }),
    'trust.list': () => ({}),
  }
  const call = vi.fn(async (method: string, args: never) => methods[method]!(args))
  const skills = new Skills(call as unknown as Call, new Trust(call as unknown as Call))
  made.push(skills)
  const edit = async () => {
    await skills.load()
    await skills.show('a')
    skills.edit()
    return skills.editor!
  }
  /** Another program writes the file, or removes it, and the page is told. */
  const elsewhere = async (text?: string) => {
    if (text === undefined) shown = undefined
    else write(text)
    skills.receive(change)
    await vi.runAllTimersAsync()
  }
  const save = (text: string) => void write(text)
  return { skills, edit, elsewhere, save, checked, whileChecking, call, text: () => shown?.text }
}

test('a change on the disk is shown, in the list and on the open page', async () => {
  const { skills, elsewhere, call } = disk()
  await elsewhere('before anybody looked\n')
  expect(call).not.toHaveBeenCalledWith('skills.list', expect.anything())
  await skills.load()
  await skills.show('a')
  await elsewhere('two\n')
  expect(skills.shown?.text).toBe('two\n')
  await elsewhere()
  expect([skills.rows, skills.open]).toEqual([[], undefined])
})

test('an editor in which nothing is written follows the file', async () => {
  const { edit, elsewhere } = disk()
  const editor = await edit()
  await elsewhere('two\n')
  expect([editor.text, editor.changed, editor.theirs]).toEqual(['two\n', false, undefined])
})

test('a change of the file does not replace what the user wrote', async () => {
  const { edit, elsewhere, skills, text } = disk()
  const editor = await edit()
  editor.write('mine\n')
  await elsewhere('theirs\n')
  expect([editor.text, editor.theirs?.text, editor.ready]).toEqual(['mine\n', 'theirs\n', false])
  await elsewhere('one\n') // as it was before
  expect(editor.theirs).toBeUndefined()
  await elsewhere('theirs\n')
  editor.keepMine()
  expect(await skills.save()).toBe(true)
  expect(text()).toBe('mine\n')
})

test('the user can bring back their text after taking the file’s', async () => {
  const { edit, elsewhere } = disk()
  const editor = await edit()
  editor.write('mine\n')
  await elsewhere('theirs\n')
  editor.takeTheirs()
  expect([editor.text, editor.changed]).toEqual(['theirs\n', true])
  editor.bringBack()
  expect([editor.text, editor.replaced]).toEqual(['mine\n', undefined])
})

test('a save that comes too late says so and loses nothing', async () => {
  const { edit, skills, text, save } = disk()
  const editor = await edit()
  editor.write('mine\n')
  save('theirs\n') // before the page is told
  expect(await skills.save()).toBe(false)
  expect([editor.text, editor.theirs?.text, editor.problem]).toEqual(['mine\n', 'theirs\n', null])
  expect([skills.editor, text()]).toEqual([editor, 'theirs\n'])
})

test('the page is not left with something that is not saved', async () => {
  const { edit, skills } = disk()
  const leave = () => {
    const event = new Event('beforeunload', { cancelable: true })
    dispatchEvent(event)
    return !event.defaultPrevented
  }
  const editor = await edit()
  expect(leave()).toBe(true)
  editor.write('mine\n')
  expect(leave()).toBe(false)
  skills.leave()
  expect(leave()).toBe(true)
})

test('a text for a skill that is gone is saved as a new skill', async () => {
  const { edit, elsewhere, skills, call } = disk()
  const editor = await edit()
  editor.write('mine\n')
  await elsewhere()
  expect([editor.gone, editor.text, editor.ready]).toEqual([true, 'mine\n', true])
  expect(await skills.save()).toBe(true)
  expect(call).toHaveBeenCalledWith('skills.save', {
    ...{ name: 'release', kind: 'skill', scope: 'user', text: 'mine\n' },
  })
})

test('the text is checked once the user pauses', async () => {
  const { edit, checked } = disk()
  const editor = await edit()
  for (const text of ['a', 'ab', 'abc']) editor.write(text)
  await vi.runAllTimersAsync()
  expect(checked).toEqual(['abc'])
  expect(editor.findings).toEqual([{ rule: 'abc' }])
})

test('findings about an earlier text are not shown for a later one', async () => {
  const { edit, whileChecking } = disk()
  const editor = await edit()
  editor.write('a')
  whileChecking(() => editor.write('ab'))
  await vi.advanceTimersToNextTimerAsync()
  expect(editor.findings).toEqual([])
  await vi.runAllTimersAsync()
  expect(editor.findings).toEqual([{ rule: 'ab' }])
})

test('the ends of lines stay as they are in the file', async () => {
  const { edit, skills, text } = disk('one\r\ntwo\r\n')
  const editor = await edit()
  expect(editor.text).toBe('one\ntwo\n')
  editor.write('one\nthree\n')
  await skills.save()
  expect(text()).toBe('one\r\nthree\r\n')
})

test('another template keeps what was written', async () => {
  const { skills } = disk()
  await skills.create()
  const editor = skills.editor!
  const mine = '---\nname: mine\n---\n'
  expect([editor.text, editor.changed, editor.ready]).toEqual([
    '---\nname: it\n---\n',
    false,
    false,
  ])
  editor.rename('mine')
  expect([editor.text, editor.changed, editor.ready]).toEqual([mine, false, true])
  editor.begin('script')
  expect(editor.replaced).toBeUndefined()
  editor.write('my own')
  editor.begin('plain')
  expect([editor.text, editor.replaced]).toEqual(['plain', 'my own'])
})
