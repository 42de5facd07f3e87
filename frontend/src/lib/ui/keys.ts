/** Enter that ends a composition belongs to the input method (229 in WebKit). */
export const isComposing = (event: KeyboardEvent): boolean =>
  event.isComposing || event.keyCode === 229

/** No other key is held down. */
export const isPlain = (event: KeyboardEvent): boolean =>
  !event.shiftKey && !event.ctrlKey && !event.altKey && !event.metaKey
