/** Parses the arguments of a call; empty if they are not a JSON object. */
export function argumentsOf(input: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(input)
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {}
  } catch {
    return {}
  }
}
