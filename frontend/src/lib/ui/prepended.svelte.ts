/** What a list of virtua does when items are put before the others. */

/**
 * Tells the list at once that it has scrolled past such items. It takes its position from scroll events, and the one of
 * its own scrolling comes a frame later. Until then it would measure the new items and correct a position that it has
 * left, which can take the reader to the start. Call it while the component with the list is set up.
 */
export function syncPrepended(
  given: () => { prepending: boolean; viewport: Element | null | undefined },
): void {
  $effect(() => {
    const { prepending, viewport } = given()
    if (prepending) viewport?.dispatchEvent(new Event('scroll'))
  })
}
