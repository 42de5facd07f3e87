/** Whether a key belongs to an input method. WebKit reports the key that ends a composition only as code 229. */
export const isComposing = (event: KeyboardEvent): boolean =>
  event.isComposing || event.keyCode === 229

/** Whether no modifier key is held down. */
export const isPlain = (event: KeyboardEvent): boolean =>
  !event.shiftKey && !event.ctrlKey && !event.altKey && !event.metaKey

/** Whether a text is typed there, so that letters are not commands. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLTextAreaElement ||
  (target instanceof HTMLInputElement && !['radio', 'checkbox'].includes(target.type)) ||
  (target instanceof HTMLElement && target.isContentEditable)
