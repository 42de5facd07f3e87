/** Enter that ends a composition belongs to the input method (229 in WebKit). */
export const isComposing = (event: KeyboardEvent): boolean =>
  event.isComposing || event.keyCode === 229
