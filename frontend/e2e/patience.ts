/**
 * How long a journey waits for one thing, in milliseconds. A machine that builds
 * and tests at the same time has paused for 40 seconds.
 */
export const patience = 60_000
