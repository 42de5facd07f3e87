/** Makes pictures that a person attaches as small as models see them. */

/** Models see no more detail than that of a picture whose longer side has so many pixels. */
const edge = 2000
const bytes = 4 << 20

/**
 * Returns a file as it is attached: a picture that is too large is made smaller. Fails for a picture that the
 * page cannot read, such as a HEIC.
 */
export async function fit(file: File): Promise<Blob> {
  if (!file.type.startsWith('image/') || file.type === 'image/svg+xml') return file
  const picture = await createImageBitmap(file)
  const scale = Math.min(1, edge / Math.max(picture.width, picture.height))
  const isCommon = /png|jpeg|gif|webp/.test(file.type)
  if (isCommon && scale === 1 && file.size <= bytes) return file
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(picture.width * scale))
  canvas.height = Math.max(1, Math.round(picture.height * scale))
  canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height)
  picture.close()
  const encoded = (type: string) =>
    new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, type, 0.85))
  const plain = file.type === 'image/jpeg' ? null : await encoded('image/png') // keeps text sharp
  const small = plain && plain.size <= bytes ? plain : await encoded('image/jpeg')
  if (!small) throw new Error('the picture cannot be encoded')
  return small
}
