/** Adds what jsdom lacks for component tests. It does no layout, so sizes never change. */
globalThis.ResizeObserver ??= class {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}
