/**
 * Adds what jsdom lacks for component tests. It does no layout, so sizes never change, and what is observed is
 * only reported as it begins.
 */
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
