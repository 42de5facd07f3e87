/** How much room two columns need, in pixels. */
export const splitFrom = 640

/** How many lines are read at once; the rest follows after the first frame. */
export const firstLines = 2000
