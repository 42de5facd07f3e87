// Tests of the production program in its real window: the faults that only the
// engine, the window or the process can have, and the main journey once.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { basename, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Desktop, freePort, root, scratch, until } from './desktop.mjs'

const program = join(root, 'build/bin/atelier')
const pictures = join(root, '.cache/pictures')

let desktop
before(async () => (desktop = await Desktop.start()))
after(() => desktop?.stop())

/** project makes a folder with something to look at, and a home of its own. */
function project() {
  const folder = scratch('project')
  writeFileSync(join(folder, 'README.md'), '# Sundial\n\nA clock that needs the sun.\n')
  writeFileSync(join(folder, 'go.mod'), 'module example.com/sundial\n')
  return { folder, home: scratch('home') }
}

const button = (name) => `//button[normalize-space()="${name}" or text()[normalize-space()="${name}"] or @aria-label="${name}"]`
const message = '//textarea[@aria-label="Message"]'
const approval = (tool) => `//section[@aria-label="Needs you: ${tool}" and @data-armed="true"]`
const card = (tool) => `//button[@aria-expanded and following-sibling::span[contains(., "details of ${tool} ")]]`
const saying = (text) => `//*[contains(normalize-space(text()), "${text}")]`

/** webProcess returns the id of a window's page process. */
function webProcess(window) {
  return until('the page process', () => {
    const children = execFileSync('ps', ['-o', 'pid=,comm=', '--ppid', String(window.pid)], { encoding: 'utf8' })
    return Number(children.match(/(\d+) WebKitWebProces(?!.*defunct)/)?.[1])
  })
}

/** shown reports whether anything but the black screen can be seen. */
function shown() {
  const picture = join(scratch('picture'), 'screen.png')
  desktop.picture(picture)
  return Number(execFileSync('convert', [picture, '-format', '%[fx:mean]', 'info:'], { encoding: 'utf8' })) > 0.02
}

/** firstFrame returns the ms from the program's start to its first painted content. */
async function firstFrame(window) {
  const painted = await until('the first frame', () =>
    window.run(`const [entry] = performance.getEntriesByName('first-contentful-paint')
      return entry && performance.timeOrigin + entry.startTime`),
  )
  return painted - window.begun
}

describe('the main job', () => {
  const { folder, home } = project()
  const script = join(folder, 'atelier-tour/hello.sh')
  let window
  before(async () => (window = await desktop.open({ program, folder, home })))
  after(() => window.close())

  const everything = async () => {
    await window.find(saying('Stopped. What was said and done is kept.'))
    await window.run(`document.querySelector('button[data-key^="f"][aria-expanded="false"]')?.click()`)
    await window.find(card('Write'))
    await window.find(card('Edit'))
    await window.find(saying('Leave the greeting as it is.'))
    await window.find(card('Bash'))
  }

  test('a prompt is answered as it streams', async () => {
    await window.type(message, 'Show me around')
    await window.click(button('Send'))
    await window.find(card('Glob'))
    await window.find(card('Read'))
  })

  test('an approved call changes the disk', async () => {
    await window.find(approval('Write'))
    assert.ok(!existsSync(script), 'the file was written before anybody allowed it')
    desktop.picture(join(pictures, 'approval.png'))
    await window.click(approval('Write') + button('Allow'))
    await until('the file', () => existsSync(script))
  })

  test('a denied call changes nothing and its feedback is heard', async () => {
    await window.click(approval('Edit') + button('Deny, say why…'))
    await window.type('//input[@aria-label="What should it do instead?"]', 'Leave the greeting as it is.')
    await window.click(button('Deny and tell the agent'))
    await window.find(approval('Bash'))
    assert.match(readFileSync(script, 'utf8'), /Hello from Atelier/)
  })

  test('a running command is stopped', async () => {
    const sleeper = `sleep 600.${process.pid}` // unique on this machine
    appendFileSync(script, `touch started\n${sleeper}\ntouch finished\n`)
    await window.click(approval('Bash') + button('Allow'))
    await until('the command', () => existsSync(join(folder, 'started')))
    await window.click(button('Stop'))
    await window.find(saying('Stopped. What was said and done is kept.'))
    const left = () => execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).includes(sleeper)
    await until('the command to be gone', () => !left())
  })

  test('a reload and a new start find it all again, and it goes on', async () => {
    await window.run('location.reload()').catch(() => {})
    await window.ready()
    await everything()
    await window.close()
    window = await desktop.open({ program, folder, home })
    await window.click('//*[@aria-label="Sessions"]//*[contains(normalize-space(), "Show me around")][not(*)]')
    await everything()
    desktop.picture(join(pictures, 'reopened.png'))
    await window.type(message, 'And now?')
    await window.click(button('Send'))
    await window.find(saying('script'))
  })
})

describe('what waits', () => {
  const { folder, home } = project()
  let window
  before(async () => (window = await desktop.open({ program, folder, home })))
  after(() => window.close())

  test('a question is answered in the panel, and the answer becomes a rule', async () => {
    await window.type(message, 'Show me around')
    await window.click(button('Send'))
    await window.find(approval('Write'))
    await window.click(button('Waiting, 1'))
    const asked = '//aside' + approval('Write')
    await window.find(asked)
    desktop.picture(join(pictures, 'waiting.png'))
    await window.click(asked + button('Always…'))
    await window.find(saying('would have allowed 1'))
    desktop.picture(join(pictures, 'rule.png'))
    await window.click(button('Allow and remember'))
    await until('the file', () => existsSync(join(folder, 'atelier-tour/hello.sh')))
    await until('the rule', () => existsSync(join(folder, '.agent/local-settings.json')))
    assert.match(readFileSync(join(folder, '.agent/local-settings.json'), 'utf8'), /"allow"/)
  })
})

describe('the window', () => {
  const { folder, home } = project()
  let window
  before(async () => (window = await desktop.open({ program, folder, home })))
  after(() => window.close())

  const waysOut = {
    'a location': `location.href = 'https://example.com/'`,
    'a file': `location.href = 'file:///etc/passwd'`,
    'another page of ours': `location.href = 'wails://wails/other'`,
    'the document that draws diagrams': `location.href = 'wails://wails/diagram.html'`,
    'a link': `const a = document.createElement('a'); a.href = 'https://example.com/'; document.body.append(a); a.click()`,
    'a link to a new window': `const a = document.createElement('a'); a.href = 'https://example.com/'; a.target = '_blank'; document.body.append(a); a.click()`,
    'window.open': `window.open('https://example.com/')`,
    'a meta refresh': `document.head.insertAdjacentHTML('beforeend', '<meta http-equiv="refresh" content="0;url=https://example.com/">')`,
    'a form': `document.body.insertAdjacentHTML('beforeend', '<form id="out" action="https://example.com/"></form>'); document.getElementById('out').submit()`,
  }
  for (const [name, script] of Object.entries(waysOut)) {
    test(`${name} does not lead away`, async () => {
      await window.run('window.marked = true')
      await window.run(`${script}; await new Promise((done) => setTimeout(done, 250))`)
      assert.deepEqual(await window.run('return [location.href, window.marked]'), ['wails://wails/', true])
    })
  }

  test('no frame can reach the application', async () => {
    await window.run(`window.reached = 0; window.addEventListener('message', () => window.reached++)`)
    const source = '<script>parent.postMessage(1, "*")</script>'
    await window.run(
      `for (const [name, value] of [['srcdoc', arguments[0]], ['src', 'data:text/html,' + arguments[0]], ['src', 'https://example.com/']]) {
         const frame = document.createElement('iframe'); frame.setAttribute(name, value); document.body.append(frame)
       }
       await new Promise((done) => setTimeout(done, 500))`,
      source,
    )
    assert.equal(await window.run('return window.reached'), 0)
  })

  test('the frame that draws diagrams has no way to the application either, nor a frame of its own', async () => {
    const added = await window.run(
      `const frame = document.createElement('iframe')
       frame.setAttribute('sandbox', 'allow-scripts')
       frame.id = 'diagrams'
       frame.src = '/diagram.html'
       const loaded = new Promise((done) => (frame.onload = done))
       document.body.append(frame)
       await loaded
       return typeof window.webkit.messageHandlers.external.postMessage`,
    )
    assert.equal(added, 'function', 'the page itself needs the way')
    const reached = await window.within(
      '//iframe[@id="diagrams"]',
      `const frame = document.createElement('iframe')
       document.body.append(frame)
       const attempt = (look) => { try { return look() ?? 'none' } catch { return 'refused' } }
       return [
         origin, location.pathname,
         typeof window.go, typeof window.runtime, typeof window.wails, attempt(() => window.webkit.messageHandlers),
         attempt(() => parent.webkit), attempt(() => localStorage), attempt(() => frame.contentWindow.webkit.messageHandlers),
       ]`,
    )
    await window.run(`document.getElementById('diagrams').remove()`)
    const none = ['undefined', 'undefined', 'undefined', 'none']
    assert.deepEqual(reached, ['null', '/diagram.html', ...none, 'refused', 'refused', 'refused'])
  })

  test('the program loads no driver of OpenGL', () => {
    const files = readFileSync(`/proc/${window.pid}/maps`, 'utf8').match(/\/\S+$/gm)
    assert.ok(files.includes(program))
    assert.deepEqual(files.filter((file) => /_dri\.so|lib(gallium|LLVM|nvidia|(EGL|GLX)_)/.test(file)), [])
  })

  test('no inline script runs', async () => {
    await window.run(
      `document.body.insertAdjacentHTML('beforeend', '<img src="none" onerror="window.injected = true">')
       await new Promise((done) => setTimeout(done, 250))`,
    )
    assert.equal(await window.run('return window.injected ?? false'), false)
  })

  test('a second start on the folder brings it to the front and ends', async () => {
    await window.run('window.runtime.WindowHide()')
    await until('the window to hide', () => !shown())
    execFileSync(program, [folder], { env: { ...desktop.env, ATELIER_HOME: home }, timeout: 60_000 }) // throws unless the exit code is 0
    await until('the window', shown)
  })

  test('its place and size are kept', async () => {
    await window.run('window.runtime.WindowSetSize(900, 640); window.runtime.WindowSetPosition(70, 50)')
    const place = `const { x, y } = await window.runtime.WindowGetPosition(); const { w, h } = await window.runtime.WindowGetSize(); return [x, y, w, h].join()`
    await until('the window to move', async () => (await window.run(place)) === '70,50,900,640')
    await window.close()
    window = await desktop.open({ program, folder, home })
    await until('the same place', async () => (await window.run(place)) === '70,50,900,640')
  })

  test('SIGTERM ends it', async () => {
    await window.close()
    window = await desktop.open({ program, folder, home })
  })

  test('a page that dies is loaded again, one that keeps dying is given up, and SIGTERM ends even the dialog that says so', async () => {
    const logged = (what) => readFileSync(join(home, 'logs/atelier.log'), 'utf8').split(what).length - 1
    for (let deaths = 1; deaths <= 3; deaths++) {
      process.kill(await webProcess(window), 'SIGKILL')
      // Killed any sooner, the new page would end the engine as well.
      await until('a new page', () => logged('the page was loaded again') === deaths)
    }
    process.kill(await webProcess(window), 'SIGKILL')
    await until('the native dialog', () => logged('died too often') > 0)
    desktop.picture(join(pictures, 'given-up.png'))
    await window.close()
    window = await desktop.open({ program, folder, home })
  })
})

// The linker drops methods that nothing calls, unless the program looks methods up by name.
test('the program has at most 75 MB', () => assert.ok(statSync(program).size <= 75e6))

test('a diagram is drawn', async () => {
  const text = 'So it goes:\n\n```mermaid\nflowchart LR\n  A[Basket] --> B{Paid?}\n  B -- yes --> C(Pack it)\n```\n'
  const chunk = (choice) => `data: ${JSON.stringify({ id: '1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, ...choice }] })}\n\n`
  const model = createServer((request, response) => {
    if (request.url.endsWith('/models')) return response.end(JSON.stringify({ object: 'list', data: [{ id: 'm', object: 'model' }] }))
    response.setHeader('content-type', 'text/event-stream')
    response.end(chunk({ delta: { role: 'assistant', content: text } }) + chunk({ delta: {}, finish_reason: 'stop' }) + 'data: [DONE]\n\n')
  }).listen(0, '127.0.0.1')
  await once(model, 'listening')
  const window = await desktop.open({ program, ...project(), env: { COMPAT_BASE_URL: `http://127.0.0.1:${model.address().port}/v1` } })
  await window.type(message, 'How?')
  await window.click(button('Send'))
  await window.click(button('Show diagram'))
  await window.find('//img[starts-with(@alt, "Diagram:")]')
  const drawn = () => window.run(`const { complete, naturalWidth } = document.querySelector('img[alt^="Diagram:"]'); return complete && naturalWidth > 200`)
  await until('the picture', drawn)
  assert.equal(await window.run(`return document.querySelectorAll('iframe').length`), 0)
  desktop.picture(join(pictures, 'diagram.png'))
  await window.close()
  model.close()
  model.closeAllConnections()
})

test('children started while the page loads do not keep the window blank', async () => {
  const normal = await desktop.open({ program, ...project() })
  const usual = await firstFrame(normal)
  await normal.close()
  const stormy = await desktop.open({ program: join(root, 'build/bin/atelier-childstorm'), ...project() })
  const took = await firstFrame(stormy)
  await stormy.close()
  assert.ok(took < usual + 2000, `first frame after ${took} ms, without children ${usual} ms`)
})

test('a database that cannot be opened is explained in the window, left alone, and tried again', async () => {
  const { folder, home } = project()
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'atelier.db'), 'this is no database '.repeat(500))
  const window = await desktop.open({ program, folder, home })
  const { error } = JSON.parse(await window.run(`return window.go.main.App.Call('sessions.list', '{}')`))
  assert.equal(error.code, 'store_corrupt')
  await window.find(`//*[contains(normalize-space(text()), "${error.message.slice(0, 40)}")]`)
  desktop.picture(join(pictures, 'no-database.png'))
  assert.match(readFileSync(join(home, 'atelier.db'), 'utf8'), /^this is no database/)
  rmSync(join(home, 'atelier.db'))
  // Attempts are a second apart: one that comes sooner ends as the last one did.
  await until('an attempt that succeeds', () =>
    window.run(
      `for (const each of document.querySelectorAll('button')) if (each.textContent.trim() === 'Try again') each.click()
       return document.querySelector('textarea[aria-label="Message"]') !== null`,
    ),
  )
  await window.find(message)
  await window.close()
})

describe('at the hands of a user', () => {
  const at = project()
  const search = '//*[@role="search"]'
  let window
  before(async () => {
    window = await desktop.open({ program, ...at })
    await window.find(message)
    desktop.hands('mousemove', 700, 300, 'windowfocus', '--sync', window.id)
    desktop.hands('type', 'Show me around')
    desktop.hands('key', 'Return')
    await window.find(approval('Write'))
  })
  after(() => window.close())

  test('Ctrl+F finds, Enter goes on, and Escape returns to the message', async () => {
    const says = (count) => window.find(`${search}//*[@role="status" and normalize-space()="${count}"]`)
    const focused = () => window.run(`return document.activeElement.getAttribute('aria-label')`)
    await window.click(message)
    desktop.hands('key', 'ctrl+f')
    await until('the focus', async () => (await focused()) === 'Find in the conversation')
    desktop.hands('type', 'nothing Has tHis')
    await says('Not found')
    desktop.hands('key', 'ctrl+a', 'type', 'FOLDER')
    await says('3 of 3')
    desktop.picture(join(pictures, 'find.png'))
    desktop.hands('key', 'Return')
    await says('1 of 3')
    desktop.hands('key', 'shift+Return')
    await says('3 of 3')
    desktop.hands('key', 'Escape')
    await until('the focus to return', async () => (await focused()) === 'Message')
    assert.equal(await window.run(`return document.querySelector('[role=search]')`), null)
  })

  test('a right click on selected text offers to copy it, and offers nothing where there is no text', async () => {
    const [x, y] = await window.run(
      `const { x, y } = [...document.querySelectorAll('[role=log] p')].find((p) => p.textContent.startsWith('The matches')).getBoundingClientRect()
       return [x, y]`,
    )
    const menus = () =>
      desktop.hands('search', '--all', '--onlyvisible', '--pid', window.pid, '--class', 'atelier').split('\n').length - 1
    desktop.hands('mousemove', Math.round(x + 40), Math.round(y + 10), 'click', '--repeat', 2, 1)
    await until('the selection', async () => (await window.run('return String(getSelection())')) === 'matches')
    desktop.hands('click', 3)
    await until('the menu', () => menus() === 1)
    desktop.picture(join(pictures, 'menu.png'))
    desktop.hands('key', 'Down', 'Return')
    await until('the text on the clipboard', () => desktop.clipboard() === 'matches')
    await until('the menu to go', () => menus() === 0)

    const quiet = await window.run(
      `const event = new MouseEvent('contextmenu', { bubbles: true, cancelable: true })
      return !document.querySelector('main').dispatchEvent(event)`,
    )
    assert.ok(quiet, 'a right click beside the text offers a menu')
  })

  test('a notice reaches a desktop that looks elsewhere, and one that is pressed brings the session to the front', async () => {
    const prefer = async (kind) => {
      await window.click(button('Settings'))
      await window.click('//*[@role="tab" and normalize-space()="Appearance"]')
      await window.click(`//input[@role="switch" and @aria-label="${kind}"]`)
      await window.click('//*[@role="dialog"]' + button('Close'))
    }
    const session = (title) => `//*[@aria-label="Sessions"]//*[contains(normalize-space(), "${title}")][not(*)]`
    const said = (title) => until(title, () => desktop.hands('getwindowname', id) === title)
    const id = window.id

    // Without a desktop that shows notices nothing changes.
    const notice = { session: 's', kind: 'done', title: 'Done', body: 'Lost' }
    const reply = await window.run(`return window.go.main.App.Call('host.notify', JSON.stringify(arguments[0]))`, notice)
    assert.deepEqual(JSON.parse(reply), { ok: {} })
    await until('the log', () => readFileSync(join(at.home, 'logs/atelier.log'), 'utf8').includes('shows no notices'))

    await prefer('When a session needs you')
    const { shown, press, dismiss } = await desktop.notices()
    const { isCovered, uncover } = await desktop.cover()
    await window.click(approval('Write') + button('Allow'))
    await window.find(approval('Edit'))
    await said('▲ Needs you · Show me around')
    await window.click(button('New session'))
    await window.type(message, '<b>R&D</b>')
    await window.click(button('Send'))
    await until('a notice', () => shown.length > 0)
    // A session that needed the user earlier was not announced, because that is switched off.
    assert.deepEqual(shown.map(([, ...said]) => said), [['Done · ' + basename(at.folder), '&lt;b&gt;R&amp;D&lt;/b&gt;']])
    dismiss(shown[0][0])

    await prefer('When a session needs you')
    await window.click(session('Show me around'))
    await window.click(approval('Edit') + button('Allow'))
    await window.find(approval('Bash'))
    await window.click(session('R&D'))
    await until('a notice of what needs the user', () => shown.length > 1)
    assert.deepEqual(shown[1].slice(1), ['Needs you · ' + basename(at.folder), 'Show me around'])

    assert.ok(isCovered(), 'the notice that was dismissed brought the window to the front')
    press(shown[1][0])
    await until('the window in front', () => !isCovered() && desktop.hands('getwindowfocus') === id)
    await window.find(approval('Bash'))
    uncover()
  })

  test('Ctrl and +, − or 0 scale the window, which remembers it', async () => {
    const press = (key) => {
      desktop.hands('windowfocus', '--sync', window.id, 'key', key)
    }
    const wide = (width) => until(`a width of ${width}`, () => window.run(`return Math.abs(innerWidth - ${width}) < 2`))
    const full = await window.run('return innerWidth')
    press('ctrl+plus')
    await wide(full / 1.1)
    press('ctrl+equal')
    await wide(full / 1.25)
    desktop.picture(join(pictures, 'zoomed.png'))
    await window.close()
    window = await desktop.open({ program, ...at })
    await window.find(message)
    await wide(full / 1.25)
    press('ctrl+minus')
    await wide(full / 1.1)
    press('ctrl+0')
    await wide(full)
  })
})

test('a link opens outside the window, and only if it is a web address', async () => {
  const at = project()
  const bin = scratch('bin')
  const opened = join(bin, 'opened')
  writeFileSync(join(bin, 'xdg-open'), `#!/bin/sh\necho "$@" >>${opened}\n`, { mode: 0o755 })
  const window = await desktop.open({ program, ...at, env: { PATH: `${bin}:${process.env.PATH}` } })
  const follow = async (url) =>
    JSON.parse(await window.run(`return window.go.main.App.Call('host.open_link', JSON.stringify({ url: arguments[0] }))`, url))
  for (const url of ['file:///etc/passwd', 'javascript:alert(1)', 'smb://host/share', '-h']) {
    assert.equal((await follow(url)).error?.code, 'invalid', url)
  }
  const page = 'https://example.com/wiki/Name_(x)?a=b;c'
  assert.ok((await follow(page)).ok)
  await until('the browser', () => existsSync(opened) && readFileSync(opened, 'utf8').endsWith('\n'))
  assert.equal(readFileSync(opened, 'utf8'), `${page}\n`)
  await window.close()
})

test('a display that does not answer is named in plain words', async () => {
  const at = project()
  const env = { ...process.env, DISPLAY: ':9999', ATELIER_HOME: at.home }
  delete env.WAYLAND_DISPLAY
  const child = spawn(program, [at.folder], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk) => (said += chunk))
  const [code] = await once(child, 'exit')
  assert.equal(code, 1)
  assert.match(said, /window cannot be opened/)
  assert.match(said, /atelier serve/)
  assert.doesNotMatch(said, /goroutine/)
})

test("WebKit's inspector stays shut whatever the environment says", async () => {
  const port = await freePort()
  const { folder, home } = project()
  const env = { ...desktop.env, ATELIER_HOME: home, WEBKIT_INSPECTOR_HTTP_SERVER: `127.0.0.1:${port}` }
  const child = spawn(program, [folder], { env, stdio: 'ignore' })
  await until('the window', shown)
  const socket = connect(port, '127.0.0.1')
  const [outcome] = await Promise.race([once(socket, 'error'), once(socket, 'connect').then(() => ['connected'])])
  assert.equal(outcome.code, 'ECONNREFUSED')
  child.kill()
  assert.deepEqual(await once(child, 'exit'), [0, null])
})
