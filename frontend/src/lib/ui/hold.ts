/** Lets a component keep the list around it in place, while something in the component unfolds or takes the focus. */
import { getContext, setContext } from 'svelte'

const key = Symbol('hold')
export const provideHold = (hold: () => void) => setContext(key, hold)
/** Holds the list around a component; it does nothing where there is none. */
export const holdHost = () => getContext<(() => void) | undefined>(key) ?? (() => undefined)
