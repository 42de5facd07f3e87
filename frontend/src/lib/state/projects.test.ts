import { expect, test } from 'vitest'
import { ApiError, type Call } from '../api'
import { BrowserDesktop, type Desktop } from '../desktop'
import { Projects } from './projects.svelte'

/** Projects of a host with a dialog if picked is given. The calls are listed with their folders. */
function projectsOf(answers: { address?: string; picked?: string; failure?: string }) {
  const calls: string[] = []
  const pages: string[] = []
  const call = (async (method: string, { folder }: { folder?: string }) => {
    calls.push([method, folder].filter(Boolean).join(' '))
    if (answers.failure) throw new ApiError({ message: answers.failure })
    return method === 'projects.open' ? { folder, address: answers.address } : {}
  }) as unknown as Call
  const desktop: Desktop = new BrowserDesktop()
  desktop.openPage = (url) => pages.push(url) > 0 && !url.includes('blocked')
  if (answers.picked !== undefined) desktop.pickFolder = () => Promise.resolve(answers.picked)
  return { projects: new Projects(call, desktop), calls, pages }
}

test('a folder that gets a window needs no page', async () => {
  const { projects, calls, pages } = projectsOf({ picked: '/src/shop' })
  expect(projects.picks).toBe(true)
  expect(await projects.pick('Open')).toBe(true)
  expect(calls).toEqual(['projects.open /src/shop', 'projects.list'])
  expect(pages).toEqual([])
})

test('a dialog that was cancelled opens nothing', async () => {
  const { projects, calls } = projectsOf({ picked: '' })
  expect(await projects.pick('Open')).toBe(true)
  expect(calls).toEqual([])
})

test('a served folder gets a page, or a link if the browser refuses', async () => {
  const allowed = projectsOf({ address: 'http://127.0.0.1:1/#token=a' })
  expect(allowed.projects.picks).toBe(false)
  expect(await allowed.projects.open('/src/shop')).toBe(true)
  expect(allowed.pages).toEqual(['http://127.0.0.1:1/#token=a'])
  const refused = projectsOf({ address: 'http://blocked' })
  expect(await refused.projects.open('/src/shop')).toBe(false)
  expect(refused.projects.blocked).toBe('http://blocked')
})

test('one folder is opened at a time, and a failure is kept until the next attempt', async () => {
  const { projects, calls } = projectsOf({ failure: 'It does not exist.' })
  const [first, second] = [projects.open('/a'), projects.open('/b')]
  expect(projects.opening).toBe('/a')
  expect(await Promise.all([first, second])).toEqual([false, false])
  expect(calls.filter((each) => each.startsWith('projects.open'))).toEqual(['projects.open /a'])
  expect(projects.opening).toBe('')
  expect(projects.problem?.message).toBe('It does not exist.')
  projects.reset()
  expect(projects.problem).toBeUndefined()
})

test('a place goes along with the folder, and is asked for on arrival', async () => {
  const asked: unknown[] = []
  const hit = { seq: 7, at: 1, kind: 'tool_call_end', part: 'output', snippet: 'x' } as const
  const call = (async (method: string, args: unknown) => {
    asked.push([method, args])
    return method === 'projects.arrive' ? { arrival: { session: 's', hit, at: 1 } } : { folder: '' }
  }) as unknown as Call
  const projects = new Projects(call, new BrowserDesktop())
  await projects.open('/a', { session: 's', hit, words: ['x'] })
  expect(asked[0]).toEqual([
    'projects.open',
    { folder: '/a', arrival: { session: 's', hit, words: ['x'], at: 0 } },
  ])
  expect((await projects.arrive())?.hit).toEqual(hit)
  const lost = projectsOf({ failure: 'No connection.' }).projects
  expect(await lost.arrive()).toBeUndefined()
  expect(lost.problem).toBeUndefined()
})
