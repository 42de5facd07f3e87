/** How much room two columns need, in pixels. */
export const splitFrom = 900
