/** What it costs to break the provider's prompt cache, which every request reads the conversation from. */
import type { CacheState, ContextInfo, ModelInfo } from '../types.gen'

/** Differences below half a cent are not worth a warning. */
const least = 0.005

/** The tokens that the provider has cached of a context now; 0 if it forgot them. */
function held({ read, write, until }: CacheState, now: number): number {
  return until && until <= now ? 0 : read + write
}

/** How much dearer the next request becomes when its cache is broken, in dollars; undefined if that is not much. */
export function breakPrice(info: ContextInfo | undefined, now: number): number | undefined {
  const cache = info?.cache
  if (!cache || held(cache, now) === 0) return undefined
  const dearer = (cache.cold ?? 0) - (cache.warm ?? 0)
  return dearer >= least ? dearer : undefined
}

type Switch = {
  /** The tokens that the other model reads anew. */
  tokens: number
  /** What that costs, in dollars; undefined if its price is not known. */
  cost?: number
  /** What the current model takes for them while they are cached. */
  warm?: number
  /** Whether the conversation is larger than the other model's window. */
  large: boolean
}

/** What changes when another model answers next; undefined if the provider has nothing cached and it all fits. */
export function switchPrice(
  info: ContextInfo | undefined,
  model: ModelInfo | undefined,
  now: number,
): Switch | undefined {
  if (!info?.cache) return undefined
  const tokens = info.used + (info.added ?? 0)
  const window = model?.context_window ?? 0
  const large = window > 0 && tokens > window
  const cost = model?.price && (model.price.input * tokens) / 1e6
  const isCached = held(info.cache, now) > 0
  if (!large && !isCached) return undefined
  return {
    tokens,
    large,
    ...(isCached && cost !== undefined && { cost }),
    ...(isCached && info.cache.warm !== undefined && { warm: info.cache.warm }),
  }
}
