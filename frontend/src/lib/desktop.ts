/** What the page can do outside itself: the window's title, notices on the desktop and the clipboard. */
import type { Notice } from './types.gen'

/** Whether the desktop shows notices: it does, it does not, or the user must be asked first. */
export type Consent = 'granted' | 'denied' | 'ask' | 'absent'

export interface Desktop {
  setTitle(title: string): void
  /** Scales the page; undefined where the browser does that itself. */
  zoom?(percent: number): void
  /** Opens another page of Atelier; false if the browser does not allow it. */
  openPage(url: string): boolean
  /** Asks for a folder, which is empty if the user picks none; undefined where the page must ask for a path. */
  pickFolder?(title: string): Promise<string | undefined>
  /** Closes the window as its button does; undefined in a browser, whose page cannot close itself. */
  quit?(): void
  consent(): Consent
  /** Asks the user. Browsers permit it only while the user presses something. */
  ask(): Promise<Consent>
  /** Shows a notice, which replaces the earlier one of its session and kind. */
  notify(notice: Notice): void
  /** Calls back with the session of a notice that the user pressed. */
  onPress(callback: (session: string) => void): void
  /** Puts a text on the clipboard. It fails if the clipboard is missing or refuses it. */
  copy(text: string): Promise<void>
}

/** A browser's desktop. */
export class BrowserDesktop implements Desktop {
  #pressed: (session: string) => void = () => {}

  setTitle(title: string) {
    document.title = title
  }

  openPage(url: string): boolean {
    const tab = window.open(url, '_blank')
    if (tab) tab.opener = null
    return tab !== null
  }

  consent(): Consent {
    if (!('Notification' in window) || !window.isSecureContext) return 'absent'
    const { permission } = Notification
    return permission === 'default' ? 'ask' : permission
  }

  async ask(): Promise<Consent> {
    if (this.consent() === 'ask') await Notification.requestPermission()
    return this.consent()
  }

  notify({ session, kind, title, body }: Notice) {
    if (this.consent() !== 'granted') return
    try {
      const shown = new Notification(title, { body, tag: `${session} ${kind}` })
      shown.onclick = () => {
        window.focus()
        shown.close()
        this.#pressed(session)
      }
    } catch {
      // Some browsers show notices only for installed pages. The page says the same.
    }
  }

  onPress(callback: (session: string) => void) {
    this.#pressed = callback
  }

  async copy(text: string) {
    try {
      await navigator.clipboard.writeText(text)
    } catch (refused) {
      if (!copyByEvent(text)) throw refused
    }
  }
}

/** Copies without the clipboard's own interface, which a page has only over HTTPS and on its own machine. */
function copyByEvent(text: string): boolean {
  let taken = false
  const give = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', text)
    event.preventDefault()
    event.stopImmediatePropagation()
    taken = event.clipboardData !== null
  }
  document.addEventListener('copy', give, { capture: true, once: true })
  const done = document.execCommand?.('copy') ?? false
  document.removeEventListener('copy', give, { capture: true })
  return done && taken
}
