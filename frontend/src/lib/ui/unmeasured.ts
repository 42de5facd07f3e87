/** What a list does with rows that it has not measured. */
import type { VListProps } from 'virtua/svelte'
import './unmeasured.css'

/**
 * The sizes of a list that knows none: a row has this height until some are measured, from when on it is their median.
 * It is about that of a conversation. With the list's own 40 px, a first screen would draw five times the rows that it
 * shows, and seem to be near the start.
 */
export const unmeasured: VListProps<unknown>['cache'] = [[], 200]
