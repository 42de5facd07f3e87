'use strict'
// The reader of a shared session, live or recorded. All HTML that it shows was rendered by Atelier, and the
// policy of the page runs no other script.

const words = {
  en: {
    live: 'Live', working: 'The agent is working', waiting: 'Waits for an answer of its user', rest: 'At rest', cost: 'Cost',
    ask: 'This session is shared with a password.', go: 'Watch', wrong: 'That is not the password.', often: 'Too many attempts. Wait a minute.',
    token: 'This link is not complete, or was made for another share.', lost: 'The connection is lost. Trying again…', full: 'This share has as many viewers as it may.',
    revoked: 'The share was ended by its owner.', expired: 'The time of this share is over.', tunnel: 'The tunnel of this share has ended.',
    closed: 'Atelier was closed on the other side.', deleted: 'The session was deleted.', failed: 'The session cannot be read any more.',
    cut: 'The beginning of this session is not shown.', newest: 'Newest ↓', opening: 'Connecting…',
    recording: 'Recording', key: 'This recording is encrypted. Its key stands after the # of its link.', open: 'Open', notKey: 'That is not the key of this recording.',
    old: 'This browser cannot open recordings.',
  },
  zh: {
    live: '直播中', working: '智能体正在工作', waiting: '正在等待用户回答', rest: '空闲', cost: '费用',
    ask: '此会话的分享设有密码。', go: '观看', wrong: '密码不正确。', often: '尝试次数过多，请一分钟后再试。',
    token: '链接不完整，或属于另一个分享。', lost: '连接已断开，正在重试…', full: '观看人数已达上限。',
    revoked: '分享已被其所有者结束。', expired: '分享已过期。', tunnel: '分享所用的隧道已断开。',
    closed: '对方已关闭 Atelier。', deleted: '会话已被删除。', failed: '会话已无法读取。',
    cut: '此处未显示会话的开头。', newest: '最新 ↓', opening: '正在连接…',
    recording: '录制', key: '此录制已加密。密钥在链接的 # 之后。', open: '打开', notKey: '这不是此录制的密钥。',
    old: '此浏览器无法打开录制。',
  },
}
const chinese = (navigator.language || '').toLowerCase().startsWith('zh')
const say = words[chinese ? 'zh' : 'en']
if (chinese) document.documentElement.lang = 'zh-CN'

const at = (id) => document.getElementById(id)
/** The encrypted session of a page that is a file. */
const recording = at('recording')
const drafts = ['', '']
const places = ['answer', 'thought'].map(at)
let shown = new Map()
let state = {}
let why = ''

/** What stands at the end of the page is followed while the reader is there. */
const atEnd = () => window.innerHeight + window.scrollY > document.documentElement.scrollHeight - 80
const toEnd = () => window.scrollTo(0, document.documentElement.scrollHeight)

function keepingPlace(change) {
  const follows = atEnd()
  change()
  if (follows) toEnd()
  at('newest').hidden = follows || atEnd()
}

function mark(text, kind) {
  const span = document.createElement('span')
  span.textContent = text
  if (kind) span.className = kind
  return span
}

function tell() {
  const marks = []
  if (why) marks.push(mark(say[why] || why, 'off'))
  else if (recording) marks.push(mark(say.recording))
  else {
    marks.push(mark(say.live, 'on'))
    marks.push(mark(state.waiting ? say.waiting : state.working ? say.working : say.rest))
  }
  if (state.cost) marks.push(mark(`${say.cost} ${state.cost}`))
  at('status').replaceChildren(...marks)
  at('title').textContent = state.title || 'Atelier'
  document.title = state.title ? `${state.title} · Atelier` : 'Atelier'
  at('cut').hidden = !state.cut
}

const handle = {
  reset() {
    shown = new Map()
    at('pieces').replaceChildren()
    handle.draft({ kind: 0, at: 0, text: '' })
    handle.draft({ kind: 1, at: 0, text: '' })
  },
  state(told) {
    state = told
    tell()
  },
  piece({ id, html }) {
    keepingPlace(() => {
      let place = shown.get(id)
      if (!place) {
        place = document.createElement('div')
        place.dataset.id = id
        shown.set(id, place)
        let before = at('pieces').lastElementChild
        while (before && Number(before.dataset.id) > id) before = before.previousElementSibling
        if (before) before.after(place)
        else at('pieces').prepend(place)
      }
      place.innerHTML = html
    })
  },
  draft({ kind, at: from, text }) {
    keepingPlace(() => {
      drafts[kind] = drafts[kind].slice(0, from) + text
      places[kind].textContent = drafts[kind]
      places[kind].hidden = drafts[kind] === ''
    })
  },
  end(told) {
    why = told.why
    tell()
  },
}

/** Reads server-sent events until the stream ends. */
async function read(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const parts = (rest + value).split('\n\n')
    rest = parts.pop()
    for (const part of parts) {
      const found = /^event: (\w+)\ndata: (.*)$/s.exec(part)
      if (found && handle[found[1]]) handle[found[1]](JSON.parse(found[2]))
    }
  }
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms))

/** Asks for the password; resolves when it is entered. */
function askPassword() {
  at('enter').hidden = false
  at('status').replaceChildren()
  at('password').value = ''
  at('password').focus()
  return new Promise((done) => {
    at('enter').onsubmit = (event) => {
      event.preventDefault()
      at('wrong').textContent = ''
      done(at('password').value)
    }
  })
}

/** Trades the token of the link for the key of the stream; empty if the share cannot be entered. */
async function enter(token) {
  let password = ''
  for (;;) {
    const answer = await fetch('enter', { method: 'POST', body: JSON.stringify({ token, password }) })
    const text = await answer.text()
    if (answer.ok) {
      at('enter').hidden = true
      return JSON.parse(text).key
    }
    if (text.trim() !== 'password') return ''
    if (answer.status === 429) at('wrong').textContent = say.often
    else if (password) at('wrong').textContent = say.wrong
    password = await askPassword()
  }
}

async function watch() {
  const token = location.hash.slice(1)
  let key = ''
  for (let tries = 0; !why; tries++) {
    let said = say.lost
    try {
      key ||= await enter(token)
      if (!key) {
        why = 'token'
        break
      }
      const stream = await fetch('live', { headers: { Authorization: `Bearer ${key}` } })
      if (stream.status === 503) said = say.full
      else if (stream.ok) {
        tries = 0
        await read(stream.body)
      } else why = 'token'
    } catch {
      // the next try tells
    }
    if (why) break
    at('status').replaceChildren(mark(said, 'off'))
    await pause(Math.min(1000 * 2 ** tries, 15000))
  }
  tell()
}

const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0))

/** Decrypts the recording; it fails with another key. */
async function opened(key) {
  const secret = bytesOf(key.replace(/^.*#/, '').trim().replaceAll('-', '+').replaceAll('_', '/'))
  const sealed = bytesOf(recording.textContent)
  const by = await crypto.subtle.importKey('raw', secret, 'AES-GCM', false, ['decrypt'])
  const packed = await crypto.subtle.decrypt({ name: 'AES-GCM', iv: sealed.slice(0, 12) }, by, sealed.slice(12))
  const text = new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip')))
  return text.json()
}

/** Shows the recording, with the key of the address or one that is typed. */
async function play() {
  if (!globalThis.crypto?.subtle || !globalThis.DecompressionStream) {
    why = 'old'
    tell()
    return
  }
  let key = location.hash.slice(1)
  for (;;) {
    try {
      const { pieces, ...told } = await opened(key)
      at('enter').hidden = true
      handle.state(told)
      pieces.forEach((html, id) => {
        const place = document.createElement('div')
        place.innerHTML = html
        place.dataset.id = id
        at('pieces').append(place)
      })
      return
    } catch {
      if (key) at('wrong').textContent = say.notKey
    }
    key = await askPassword()
  }
}

at('ask').textContent = recording ? say.key : say.ask
at('go').textContent = recording ? say.open : say.go
at('cut').textContent = say.cut
at('newest').textContent = say.newest
at('newest').onclick = toEnd
at('status').textContent = say.opening
window.addEventListener('scroll', () => {
  if (atEnd()) at('newest').hidden = true
}, { passive: true })
void (recording ? play() : watch())
window.addEventListener('hashchange', () => location.reload())
