/** What jsdom leaves out for component tests: it lays nothing out, so no size ever changes. */
globalThis.ResizeObserver ??= class {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}
