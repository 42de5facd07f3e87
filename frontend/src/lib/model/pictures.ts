/** Pictures in events: which types are shown, and how the page reads their bytes. */
import type { Media } from '../types.gen'

/** The types that every browser engine paints. SVG is left out because it can contain scripts. */
const types: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/** A picture to show: its name and the address of its bytes. */
export type Picture = { name: string; source: string }

export const isPicture = ({ mime }: Media) => types.includes(mime)

/** A data URL of the picture's bytes; undefined if there are none. Nothing is fetched. */
export function pictureSource(media: Media): string | undefined {
  return media.data && isPicture(media) ? `data:${media.mime};base64,${media.data}` : undefined
}

/** The types of sounds that Go keeps for the page. */
const sounds = /^audio\/(wav|x-wav|wave|mpeg|mp3|ogg|webm|mp4|aac|flac)$/

/** A data URL of a sound's bytes; undefined if there are none. Nothing is fetched. */
export function soundSource({ mime, data }: Media): string | undefined {
  return data && sounds.test(mime) ? `data:${mime};base64,${data}` : undefined
}
