/** A scroll position in a list: the item at the top of the view, and how far it is scrolled out. */
export type Place = { key: string; offset: number }
