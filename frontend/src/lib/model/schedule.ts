/** A scheduled task as a call's card has it. */
export type ScheduleCard = {
  id: string
  name: string
  schedule?: string
  prompt: string
  next?: number
  paused?: boolean
}

/** Reads the card of a call about a schedule; undefined if it has none. */
export function scheduleCardOf(card: unknown): ScheduleCard | undefined {
  if (typeof card !== 'object' || card === null) return undefined
  const { id, name, schedule, prompt, next, paused } = card as Record<string, unknown>
  if (typeof id !== 'string' || typeof name !== 'string' || typeof prompt !== 'string')
    return undefined
  return {
    id,
    name,
    prompt,
    schedule: typeof schedule === 'string' ? schedule : undefined,
    next: typeof next === 'number' ? next : undefined,
    paused: paused === true,
  }
}
