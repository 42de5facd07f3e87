/**
 * Prepares each file of tests, and adds what jsdom lacks for component tests. It does no layout, so sizes never change, and what is observed is
 * only reported as it begins.
 */
import { act, cleanup, configure, setup } from '@testing-library/svelte'
import { afterEach, beforeEach } from 'vitest'

// A machine that builds and tests at the same time has paused for 40 seconds.
configure({ asyncUtilTimeout: 60_000 })

// The files of a worker share the document, so no test leaves anything in it.
beforeEach(setup)
afterEach(async () => {
  await act()
  cleanup()
  document.body.replaceChildren()
})

globalThis.ResizeObserver ??= class {
  constructor(private report: ResizeObserverCallback) {}
  observe(): void {
    queueMicrotask(() => this.report([], this))
  }
  unobserve(): void {}
  disconnect(): void {}
}

globalThis.matchMedia ??= (media) =>
  Object.assign(new EventTarget(), { media, matches: false }) as unknown as MediaQueryList

Element.prototype.scrollIntoView ??= () => {}
