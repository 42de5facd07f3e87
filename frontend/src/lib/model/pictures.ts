/** Pictures in events: which are shown, and how the page reads their bytes. */
import type { Media } from '../types.gen'

/** What every engine paints and what cannot run: no SVG. */
const types: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/** What is shown: a name and the address of the bytes. */
export type Picture = { name: string; source: string }

export const isPicture = ({ mime }: Media) => types.includes(mime)

/** The address of a picture's own bytes; undefined where there are none. Nothing is fetched. */
export function pictureSource(media: Media): string | undefined {
  return media.data && isPicture(media) ? `data:${media.mime};base64,${media.data}` : undefined
}
