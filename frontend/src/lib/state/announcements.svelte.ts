/** What screen readers are told about something that the user did. */

let said = $state('')

export const announcement = (): string => said

/** Tells it, also if the same was told before. */
export function announce(words: string): void {
  // A live region is read only when its text changes.
  said = said === words ? `${words}\u00a0` : words
}
