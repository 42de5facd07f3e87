import { beforeEach, expect, test, vi } from 'vitest'
import { ApiError, type Call } from '../api'
import type { ChangesReply, ChangesRequest, DiffReply } from '../types.gen'
import { Changes } from './changes.svelte'
import { dropComments } from './comments.svelte'

beforeEach(() => {
  localStorage.clear()
  dropComments('') // of all owners
})

const listOf = (...paths: string[]): ChangesReply => ({
  scope: 'session',
  git: 'ready',
  added: 1,
  removed: 0,
  commit: { files: 0, added: 0, removed: 0 },
  files: paths.map((path) => ({ path, state: 'modified', added: 1, removed: 0, staged: 'none' })),
})

type Asked = [method: string, args: unknown]

/** Changes over a fake application with given answers, and the calls that it got. */
function setUp(answers: Record<string, (args: never) => unknown>) {
  const asked: Asked[] = []
  const call = async (method: string, args: unknown) => {
    asked.push([method, args])
    return answers[method]?.(args as never) ?? {}
  }
  return { asked, changes: new Changes(call as Call) }
}

const settled = () => new Promise((resolve) => setTimeout(resolve))

test('edits of a session are shown while there is one, else what is not committed', async () => {
  const { asked, changes } = setUp({ 'changes.list': () => listOf() })
  changes.follow('s1', '/shop')
  await settled()
  changes.follow(undefined, '/shop')
  await settled()
  expect(asked.map(([, args]) => (args as ChangesRequest).scope)).toEqual([
    'session',
    'uncommitted',
  ])
})

test('the list of another session goes at once, and its own is read when the caller is ready', async () => {
  const { asked, changes } = setUp({ 'changes.list': () => listOf('a.ts') })
  changes.follow('s1', '/shop')
  await settled()
  expect(changes.files).toHaveLength(1)
  let ready = () => {}
  changes.follow('s2', '/shop', new Promise((resolve) => (ready = resolve)))
  await settled()
  expect(changes.files).toEqual([])
  expect(asked).toHaveLength(1)
  ready()
  await settled()
  expect(changes.files).toHaveLength(1)
  expect(asked).toHaveLength(2)
})

test('an answer about another session is dropped', async () => {
  const waiting: ((list: ChangesReply) => void)[] = []
  const { changes } = setUp({
    'changes.list': () => new Promise<ChangesReply>((resolve) => waiting.push(resolve)),
  })
  changes.follow('s1', '/shop')
  await settled()
  changes.follow('s2', '/shop')
  waiting[0]!(listOf('of-s1.ts'))
  await settled()
  expect(changes.files).toEqual([])
  waiting[1]!(listOf('of-s2.ts'))
  await settled()
  expect(changes.files.map(({ path }) => path)).toEqual(['of-s2.ts'])
})

test('an open difference is read again with the list, and closed with its file', async () => {
  let list = listOf('a.ts')
  let reads = 0
  const { changes } = setUp({
    'changes.list': () => list,
    'changes.diff': ({ path }: { path: string }): DiffReply => ({
      path,
      diff: `read ${++reads}`,
      added: 1,
      removed: 0,
    }),
  })
  changes.follow('s1', '/shop')
  await settled()
  await changes.open(changes.files[0])
  expect(changes.diff?.diff).toBe('read 1')
  await changes.load()
  expect(changes.diff?.diff).toBe('read 2')
  list = listOf('b.ts')
  await changes.load()
  expect([changes.path, changes.diff]).toEqual([undefined, undefined])
})

test('a refusal is shown as a problem, and the list is read again', async () => {
  const { asked, changes } = setUp({
    'changes.list': () => listOf('a.ts'),
    'changes.put_back': () => {
      throw new ApiError({ message: 'It has changed.' })
    },
  })
  changes.follow('s1', '/shop')
  await settled()
  const [file] = changes.files
  expect(await changes.putBack(file!, { hunk: '@@' })).toBe(false)
  expect(changes.problem?.message).toBe('It has changed.')
  expect(changes.busy).toBe(false)
  expect(asked.slice(-2)).toEqual([
    [
      'changes.put_back',
      {
        scope: 'session',
        session: 's1',
        base: undefined,
        path: 'a.ts',
        from: undefined,
        hunk: '@@',
      },
    ],
    ['changes.list', { scope: 'session', session: 's1', base: undefined }],
  ])
})

test('what was refused goes with a refresh, and with the next file that is opened', async () => {
  const { changes } = setUp({
    'changes.list': () => listOf('a.ts'),
    'files.open': () => {
      throw new ApiError({ message: 'There is no editor.' })
    },
  })
  changes.follow('s1', '/shop')
  await settled()
  for (const next of [() => changes.refresh(), () => void changes.open(changes.files[0])]) {
    await changes.edit('a.ts')
    expect(changes.problem?.message).toBe('There is no editor.')
    next()
    await settled()
    expect(changes.problem).toBeNull()
  }
})

test('a message is kept until its commit is made', async () => {
  let refuses = true
  const { changes } = setUp({
    'changes.list': () => listOf('a.ts'),
    'changes.commit': () => {
      if (refuses) throw new ApiError({ message: 'Nothing is staged.' })
      return { id: 'abc' }
    },
  })
  changes.follow('s1', '/shop')
  changes.message = 'Add it'
  expect(await changes.commit()).toBeUndefined()
  expect(changes.message).toBe('Add it')
  refuses = false
  expect(await changes.commit()).toEqual({ id: 'abc' })
  expect(changes.message).toBe('')
})

test('a difference and its authors that come after the session was left are dropped', async () => {
  const diffs: ((diff: DiffReply) => void)[] = []
  const { changes } = setUp({
    'changes.list': () => listOf('a.ts'),
    'changes.diff': () => new Promise<DiffReply>((resolve) => diffs.push(resolve)),
  })
  const diffOf = (diff: string) => ({ diff, seen: diff }) as unknown as DiffReply
  changes.follow('s1', '/shop')
  await settled()
  const [file] = changes.files
  void changes.open(file)
  changes.follow('s2', '/shop')
  await settled()
  void changes.open(file)
  diffs[1]!(diffOf('of s2'))
  await settled()
  diffs[0]!(diffOf('of s1'))
  await settled()
  expect(changes.diff?.diff).toBe('of s2')
})

const saved = (comments: Changes['comments'], text: string) => {
  comments.begin({ path: 'a.ts', line: 3, side: 'new', quote: 'x', text })
  comments.save()
}
const textsOf = ({ all }: Changes['comments']) => all.map(({ text }) => text)

test('comments that begin a session leave those of the project, and others that were written meanwhile stay', async () => {
  const { changes } = setUp({ 'changes.list': () => listOf() })
  const { comments } = changes
  changes.follow('s1', '/shop')
  saved(comments, 'Of the session.')
  changes.follow(undefined, '/shop')
  saved(comments, 'Why?')
  await comments.send((all) => {
    expect(all.map(({ text }) => text)).toEqual(['Why?'])
    saved(comments, 'And this?')
    changes.follow('s1', '/shop') // as when a session begins
    return Promise.resolve(true)
  })
  expect(textsOf(comments)).toEqual(['Of the session.'])
  changes.follow(undefined, '/shop')
  expect(textsOf(comments)).toEqual(['And this?'])
  await comments.send(() => Promise.resolve(false))
  expect(textsOf(comments)).toEqual(['And this?'])
})

test('two pages keep the comments of each other', () => {
  const [one, other] = [setUp({}), setUp({})].map(({ changes }) => {
    changes.follow('s1', '/shop')
    return changes.comments
  })
  saved(one!, 'One.')
  saved(other!, 'Two.')
  expect(textsOf(one!)).toEqual(['One.', 'Two.'])
  one!.remove(one!.all[1]!)
  saved(other!, 'Three.')
  expect(textsOf(other!)).toEqual(['One.', 'Three.'])
})

test('comments are kept for each session, and outlive the page', () => {
  const place = { path: 'a.ts', line: 3, side: 'new', quote: 'x', text: '' } as const
  const { changes } = setUp({ 'changes.list': () => listOf() })
  const { comments } = changes
  changes.follow('s1', '/shop')
  comments.begin(place)
  comments.writing!.text = 'Why?'
  comments.save()
  comments.begin(place)
  comments.save() // nothing was written
  changes.follow('s2', '/shop')
  expect(comments.all).toEqual([])
  const other = setUp({ 'changes.list': () => listOf() }).changes
  other.follow('s1', '/shop')
  expect(other.comments.at('a.ts', 3, 'new').map(({ text }) => text)).toEqual(['Why?'])
  const [comment] = other.comments.all
  other.comments.begin(comment!, comment)
  other.comments.writing!.text = 'Why so?'
  other.comments.save()
  expect(other.comments.all.map(({ text }) => text)).toEqual(['Why so?'])
  other.comments.remove(other.comments.all[0]!)
  expect(localStorage.getItem('atelier.comments:s1')).toBeNull()
})

test('a half written comment is there again when it is begun again', () => {
  const at = (line: number) => ({ path: 'a.ts', line, side: 'new', quote: 'x', text: '' }) as const
  const { changes } = setUp({ 'changes.list': () => listOf() })
  const { comments } = changes
  const begun = (line: number) => {
    comments.begin(at(line))
    return comments.writing?.text
  }
  changes.follow('s1', '/shop')
  begun(3)
  comments.writing!.text = 'Why'
  comments.leave()
  expect(comments.writing).toBeUndefined()
  expect([begun(4), begun(3)]).toEqual(['', 'Why'])
  changes.follow('s2', '/shop')
  expect([comments.writing, begun(3)]).toEqual([undefined, ''])
  changes.follow('s1', '/shop')
  expect(begun(3)).toBe('Why')
  comments.save()
  expect([comments.all.length, begun(3)]).toEqual([1, ''])
  const [comment] = comments.all
  comments.begin(comment!, comment)
  comments.writing!.text = ' '
  comments.leave()
  comments.begin(comment!, comment)
  expect(comments.writing?.text).toBe('Why')
  comments.writing!.text = 'How'
  comments.cancel()
  comments.begin(comment!, comment)
  expect(comments.writing?.text).toBe('Why')
})

test('a file that is staged in part is two, and each is asked for and reverted on its own', async () => {
  const half = (staged: 'all' | 'none') =>
    ({ path: 'a.ts', state: 'modified', added: 1, removed: 0, staged }) as const
  const list = { ...listOf(), scope: 'uncommitted', files: [half('all'), half('none')] } as const
  const { asked, changes } = setUp({ 'changes.list': () => list, 'changes.diff': () => ({}) })
  changes.follow(undefined, '/shop')
  await settled()
  expect([...changes.parted]).toEqual(['a.ts'])
  await changes.open(list.files[1])
  expect([changes.isOpen(list.files[0]), changes.isOpen(list.files[1])]).toEqual([false, true])
  await changes.putBack(list.files[1], { hunk: '@@' })
  await changes.stage(list.files, true)
  const wanted = ['changes.diff', 'changes.put_back', 'changes.stage']
  expect(asked.filter(([method]) => wanted.includes(method)).slice(0, 2)).toMatchObject([
    ['changes.diff', { path: 'a.ts', staged: 'none' }],
    ['changes.put_back', { path: 'a.ts', staged: 'none', hunk: '@@' }],
  ])
  expect(asked.find(([method]) => method === 'changes.stage')?.[1]).toMatchObject({
    paths: ['a.ts', 'a.ts'],
  })
})

test('a turn that changes many files has the list read once for all of them', async () => {
  vi.useFakeTimers()
  const { asked, changes } = setUp({ 'changes.list': () => listOf('a.ts') })
  for (let n = 0; n < 5; n++) changes.loadSoon()
  await vi.advanceTimersByTimeAsync(1000)
  expect(asked).toHaveLength(1)
  changes.loadSoon()
  await vi.advanceTimersByTimeAsync(1000)
  expect(asked).toHaveLength(2)
  vi.useRealTimers()
})
