// What is measured inside the page, the same in both engines.

/** Runs in the page and leaves its functions in window.benchProbe. It must not use anything from this file. */
export function install() {
  if (window.benchProbe) return
  const nextFrame = () => new Promise((done) => requestAnimationFrame(done))

  /**
   * Resolves once the frame that is being made is laid out and painted: a timer fires after that. A message would, too,
   * but in WebKit it passes through another process, and comes late when the processors are busy.
   */
  const afterPaint = () => new Promise((done) => setTimeout(() => done(performance.now())))

  /** The time at which the first frame was painted that has what is looked for. */
  async function drawn(look, limit = 60_000) {
    for (const begun = performance.now(); performance.now() - begun < limit;) {
      await nextFrame()
      const found = look()
      const at = await afterPaint()
      if (found) return at
    }
    throw new Error(`not drawn within ${limit} ms: ${look}`)
  }

  const log = () => document.querySelector('main [role=log]')
  const scroller = () => log()?.firstElementChild

  const newest = () => [...(log()?.querySelectorAll('[data-entry]') ?? [])].slice(-2)

  /** Whether the newest entry of the conversation, beside the end of its turn, has a text and its end can be seen. */
  function isNewest(text) {
    const entry = newest().findLast(({ textContent }) => textContent.includes(text))
    if (!entry?.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false
    const [box, view] = [entry.getBoundingClientRect(), log().getBoundingClientRect()]
    return box.height > 0 && box.top < view.bottom && box.bottom > view.top && box.bottom <= view.bottom + 16
  }

  const isBusy = () => [...document.querySelectorAll('main button')].some((button) => (button.ariaLabel ?? button.textContent).trim() === 'Stop')

  let recording
  function record() {
    const taken = { frames: [], tasks: null, last: performance.now() }
    if (PerformanceObserver.supportedEntryTypes.includes('longtask')) {
      taken.tasks = 0
      const count = (entries) => (taken.tasks += entries.filter(({ duration }) => duration > 50).length)
      taken.observer = new PerformanceObserver((list) => count(list.getEntries()))
      taken.observer.observe({ type: 'longtask' })
      taken.flush = () => count(taken.observer.takeRecords())
    }
    recording = taken
    const tick = () => {
      if (recording !== taken) return
      const now = performance.now()
      taken.frames.push(now - taken.last)
      taken.last = now
      requestAnimationFrame(tick)
    }
    requestAnimationFrame(tick)
  }

  /** Ends the recording. A halt at its end counts. */
  async function taken() {
    await nextFrame()
    const { frames, tasks, observer, flush } = recording
    flush?.()
    observer?.disconnect()
    const all = { frames, tasks: flush ? recording.tasks : tasks }
    recording = undefined
    return all
  }

  const sleep = (ms) => new Promise((done) => setTimeout(done, ms))

  /** Scrolls a box by so many pixels in each frame, as a held wheel does. */
  async function scroll(box, by, frames) {
    record()
    for (let n = 0; n < frames; n++) {
      box.dispatchEvent(new WheelEvent('wheel', { deltaY: by, bubbles: true, cancelable: true }))
      box.scrollTop += by
      await nextFrame()
    }
    return taken()
  }

  /** The time from a click on an element to the first frame that has what is looked for. */
  async function clicked(element, look) {
    await nextFrame()
    const begun = performance.now()
    element.click()
    return (await drawn(look)) - begun
  }

  /** The button that opens and closes the card of a tool. What a press does is written beside it. */
  const cardOf = (tool) =>
    [...document.querySelectorAll('main button[aria-expanded] ~ span')]
      .find(({ textContent }) => textContent.includes(`details of ${tool}`))
      ?.parentElement.querySelector('button')

  const one = (selector) => {
    const found = document.querySelector(selector)
    if (!found) throw new Error(`the page has no ${selector}`)
    return found
  }
  const jump = (key) => document.dispatchEvent(new KeyboardEvent('keydown', { key, altKey: true, bubbles: true, cancelable: true }))
  const sessionRow = (id) => one(`button[data-session="${id}"]`)

  let keys
  window.benchProbe = {
    isReady: () => !!document.querySelector('textarea[aria-label=Message]'),

    /** The first frame with content, since the page began to load and in Unix time. It may not have been painted yet. */
    async firstPaint() {
      const painted = () => performance.getEntriesByName('first-contentful-paint')[0]
      await drawn(painted)
      const entry = painted()
      return { since: entry.startTime, at: performance.timeOrigin + entry.startTime }
    },

    /** Opens a session; the ms until its newest entry, which has a text, is drawn. */
    open: (id, text) => clicked(sessionRow(id), () => isNewest(text)),

    /** Opens a session without entries. */
    openEmpty: (id) => clicked(sessionRow(id), () => !log()),

    isNewest,

    /** Whether an answer streams, and its end is in view. */
    isStreaming: () => isNewest('@') && isBusy(),

    /** Jumps to the start of the conversation; the ms until the first prompt is drawn. */
    async toStart() {
      const isThere = () => {
        const first = [...log().querySelectorAll('[data-entry]')].find(({ textContent }) => textContent.includes('Prompt 1. '))
        return first?.getBoundingClientRect().top < log().getBoundingClientRect().bottom
      }
      await nextFrame()
      const begun = performance.now()
      jump('Home')
      return (await drawn(isThere)) - begun
    },
    toNewest(text) {
      jump('End')
      return drawn(() => isNewest(text))
    },

    scroll: (by, frames) => scroll(scroller(), by, frames),
    toEnd: () => {
      scroller().scrollTop = scroller().scrollHeight
      return drawn(() => scroller().scrollHeight - scroller().scrollTop - scroller().clientHeight < 8)
    },

    /** The frames of so many ms in which nobody does anything. */
    async watch(ms) {
      record()
      await sleep(ms)
      return taken()
    },

    /** Begins to take the time from each key to the frame that shows it. */
    startKeys() {
      const field = one('textarea[aria-label=Message]')
      field.focus()
      const times = []
      let pressed = 0
      const press = (event) => {
        // The time of the press, which includes how long it waited for the page.
        const now = performance.now()
        pressed = event.timeStamp > 0 && event.timeStamp <= now && now - event.timeStamp < 5000 ? event.timeStamp : now
      }
      const show = async () => {
        const begun = pressed
        await nextFrame()
        times.push((await afterPaint()) - begun)
      }
      field.addEventListener('keydown', press, true)
      field.addEventListener('input', show)
      keys = () => {
        field.removeEventListener('keydown', press, true)
        field.removeEventListener('input', show)
        return times
      }
    },
    async takeKeys() {
      await nextFrame()
      await afterPaint()
      return keys()
    },

    /** How old streamed text is when it is drawn, for so many ms; the model writes the time into it. */
    async ages(ms) {
      const ages = []
      let last = 0
      for (const begun = performance.now(); performance.now() - begun < ms;) {
        await nextFrame()
        const text = newest().at(-1)?.textContent ?? ''
        const at = Number(text.slice(text.lastIndexOf('@')).match(/^@(\d{13})/)?.[1] ?? 0)
        await afterPaint()
        if (last > 0 && at > last) ages.push(Date.now() - at)
        last = Math.max(last, at)
      }
      return ages
    },

    /** Opens the card of the large diff, whose turn is unfolded first. The frames are those of the next second, too. */
    async openDiff() {
      const card = () => cardOf('Edit')
      if (!card()) {
        one('main button[data-key^="f"]').click()
        await drawn(() => card())
      }
      record()
      const took = await clicked(card(), () => document.querySelector('main [role=table] [role=row] .text')?.textContent)
      await sleep(1000)
      return { took, ...(await taken()) }
    },
    async closeDiff() {
      cardOf('Edit').click()
      await drawn(() => !document.querySelector('main [role=table]'))
    },
    scrollDiff(by, frames) {
      let box = one('main [role=table]')
      while (box.scrollHeight <= box.clientHeight + 1 || getComputedStyle(box).overflowY === 'visible') box = box.parentElement
      return scroll(box, by, frames)
    },
  }
}
