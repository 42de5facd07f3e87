import { markHidden } from '../model/visible'

/** The place of a definition: its file as it is named within the project, and the line. */
export function originName(
  { file = '', line }: { file?: string; line?: number },
  folder: string,
): string {
  const root = `${folder}/`
  const name = markHidden(file.startsWith(root) ? file.slice(root.length) : file)
  return line ? `${name}:${line}` : name
}
