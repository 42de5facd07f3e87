// Runs in a world of its own beside the page's scripts. It reads the page and finds elements in it.
;(() => {
  if (globalThis.reader) return
  const MOST = 300
  const interactive = [
    'a[href]', 'button', 'input:not([type=hidden])', 'select', 'textarea', 'summary', '[contenteditable=""]', '[contenteditable=true]',
    '[role=button]', '[role=link]', '[role=checkbox]', '[role=radio]', '[role=tab]', '[role=menuitem]', '[role=switch]', '[role=option]',
    '[role=textbox]', '[role=combobox]', '[onclick]', '[tabindex]:not([tabindex="-1"])',
  ].join(',')
  let known = []

  const short = (text, most = 120) => {
    const line = String(text ?? '').replace(/\s+/g, ' ').trim()
    return line.length > most ? line.slice(0, most) + '…' : line
  }
  const visible = (el) => el.checkVisibility({ visibilityProperty: true }) && el.getClientRects().length > 0
  const all = (selector, root = document, out = []) => {
    for (const el of root.querySelectorAll('*')) {
      if (out.length >= 5000) break
      if (el.matches(selector)) out.push(el)
      if (el.shadowRoot) all(selector, el.shadowRoot, out)
    }
    return out
  }
  // captionOf is what a label says, without the field in it.
  const captionOf = (label) => {
    const copy = label.cloneNode(true)
    for (const field of copy.querySelectorAll('input,select,textarea,button')) field.remove()
    return copy.textContent
  }
  const nameOf = (el) => {
    const by = el.getAttribute('aria-labelledby')
    const labelled = by && by.split(/\s+/).map((id) => document.getElementById(id)?.innerText ?? '').join(' ')
    const label = [...(el.labels ?? [])].map(captionOf).join(' ')
    const own = /^(input|select|textarea)$/i.test(el.tagName) ? '' : el.innerText
    const pressed = /^(submit|button|reset)$/.test(el.type) ? el.value : ''
    for (const text of [labelled, el.getAttribute('aria-label'), label, own, pressed, el.placeholder, el.querySelector('img[alt]')?.alt, el.title, el.name, el.id])
      if (short(text)) return short(text)
    return ''
  }
  const kindOf = (el) => {
    const role = el.getAttribute('role')
    if (role) return role
    const tag = el.tagName.toLowerCase()
    if (tag === 'a') return 'link'
    if (tag === 'input') return /^(submit|button|reset|image)$/.test(el.type) ? 'button' : el.type === 'text' ? 'field' : el.type
    return { textarea: 'field', select: 'list', summary: 'button' }[tag] ?? tag
  }
  const stateOf = (el) => {
    const out = []
    if (el.disabled || el.getAttribute('aria-disabled') === 'true') out.push('disabled')
    if (el.checked || el.getAttribute('aria-checked') === 'true') out.push('checked')
    if (el.getAttribute('aria-expanded') === 'true') out.push('expanded')
    if (el.getAttribute('aria-selected') === 'true') out.push('selected')
    if (el === document.activeElement) out.push('focused')
    const filled = /^(input|textarea)$/i.test(el.tagName) && !/^(submit|button|reset|image|checkbox|radio|file)$/.test(el.type)
    if (filled && el.value) out.push('has ' + (el.type === 'password' ? 'a password' : JSON.stringify(short(el.value, 60))))
    if (el.tagName === 'SELECT') out.push('has ' + JSON.stringify(short(el.selectedOptions[0]?.text, 60)), 'options: ' + short([...el.options].map((o) => o.text).join(', '), 200))
    return out.join(', ')
  }
  const described = (el, at) => `[${at + 1}] ${kindOf(el)} ${JSON.stringify(nameOf(el))}${stateOf(el) && ' (' + stateOf(el) + ')'}`
  const refresh = () => {
    const found = all(interactive).filter(visible)
    const open = document.querySelector('dialog:modal')
    known = (open ? found.filter((el) => open.contains(el)) : found).slice(0, MOST)
    return found.length
  }

  // find returns the one element that a target means, or throws why there is none.
  const find = (target) => {
    const number = /^\[?(\d+)\]?$/.exec(target.trim())
    if (number) {
      const el = known[number[1] - 1]
      if (!el) throw `there is no element [${number[1]}]: read the page for its elements`
      if (!el.isConnected) throw `the element [${number[1]}] is not on the page any more: read the page again`
      return el
    }
    if (known.length === 0) refresh()
    const wanted = short(target.replace(/^["']|["']$/g, '')).toLowerCase()
    const candidates = all(interactive).filter(visible)
    for (const same of [(n) => n === wanted, (n) => n.includes(wanted)]) {
      const found = candidates.filter((el) => same(nameOf(el).toLowerCase()))
      if (found.length === 1) return found[0]
      if (found.length > 1) {
        known = found.slice(0, 20)
        throw `${found.length} elements have that name; use the number of one:\n${known.map(described).join('\n')}`
      }
    }
    let matched = []
    try {
      matched = all(target)
    } catch {
      throw 'no element has that name, and it is no CSS selector: read the page for its elements'
    }
    const shown = matched.filter(visible)
    if (shown.length > 0) return shown[0]
    if (matched.length > 0) throw 'the element is there, but not visible'
    throw 'no element has that name or matches that selector: read the page for its elements'
  }
  const usable = (el) => {
    if (el.disabled || el.getAttribute('aria-disabled') === 'true') throw 'the element is disabled'
    el.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' })
    const box = el.getClientRects()[0]
    if (!box) throw 'the element is there, but not visible'
    const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 }
    let top = document.elementFromPoint(at.x, at.y)
    while (top?.shadowRoot?.elementFromPoint(at.x, at.y) && top.shadowRoot.elementFromPoint(at.x, at.y) !== top) top = top.shadowRoot.elementFromPoint(at.x, at.y)
    const related = top && (el.contains(top) || top.contains(el) || [...(el.labels ?? [])].some((l) => l.contains(top)))
    if (!related) throw `something else lies over the element${top ? ': ' + kindOf(top) + ' ' + JSON.stringify(short(top.innerText, 60)) : ''}`
    return at
  }
  const changed = (el) => ['input', 'change'].forEach((name) => el.dispatchEvent(new Event(name, { bubbles: true })))
  const outcome = (run) => {
    try {
      return { ok: true, ...run() }
    } catch (why) {
      return { ok: false, why: String(why) }
    }
  }

  globalThis.reader = {
    read: (most) => {
      const count = refresh()
      const text = (document.body?.innerText ?? '').replace(/\n{3,}/g, '\n\n')
      return {
        title: short(document.title, 200), url: location.href, text: text.slice(0, most), length: text.length,
        elements: known.map(described), count, height: document.documentElement.scrollHeight,
      }
    },
    point: (target) => outcome(() => { const el = find(target); return { ...usable(el), name: nameOf(el), kind: kindOf(el) } }),
    fill: (target, text) => outcome(() => {
      const el = find(target)
      const about = { name: nameOf(el), kind: kindOf(el) }
      usable(el)
      el.focus()
      if (el.tagName === 'SELECT') {
        const option = [...el.options].find((o) => short(o.text) === short(text) || o.value === text)
        if (!option) throw `it has no option of that name; it has ${short([...el.options].map((o) => o.text).join(', '), 500)}`
        el.value = option.value
        changed(el)
        return { ...about, done: true }
      }
      if (el.type === 'file') throw 'a file cannot be chosen here'
      if (/^(checkbox|radio|submit|button|reset|image)$/.test(el.type)) throw 'it cannot be filled in: click it'
      if (/^(date|time|datetime-local|month|week|color|range)$/.test(el.type)) {
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(el, text)
        changed(el)
        if (text && !el.value) throw `a field of the kind ${el.type} does not take that text`
        return { ...about, done: true }
      }
      if (el.readOnly) throw 'the field is read-only'
      if (/^(input|textarea)$/i.test(el.tagName)) el.select()
      else if (el.isContentEditable) getSelection().selectAllChildren(el)
      else throw 'it is no field that can be filled in'
      return about
    }),
  }
})()
