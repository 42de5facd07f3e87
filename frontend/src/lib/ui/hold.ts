/** Lets what is in a list keep it where it is, while something in it unfolds or takes the focus. */
import { getContext, setContext } from 'svelte'

const key = Symbol('hold')
export const provideHold = (hold: () => void) => setContext(key, hold)
/** Holds the list around a component; it does nothing where there is none. */
export const holdHost = () => getContext<(() => void) | undefined>(key) ?? (() => undefined)
