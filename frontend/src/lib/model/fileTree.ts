/** The files of the project as a tree, of which only what is open is looked at. */

export type FileNode = { name: string; path: string; isFolder: boolean }

/** What is in a folder: folders, then files, each by name. */
export function childrenOf(paths: readonly string[], folder: string): FileNode[] {
  const prefix = folder && `${folder}/`
  const found = new Map<string, FileNode>()
  for (const path of paths) {
    if (!path.startsWith(prefix)) continue
    const [name = ''] = path.slice(prefix.length).split('/', 1)
    const whole = prefix + name
    // A name that is not UTF-8 is in quotation marks, and its folders lack the closing one.
    if (!found.has(whole)) found.set(whole, { name, path: whole, isFolder: whole !== path })
  }
  return [...found.values()].sort(
    (a, b) => Number(b.isFolder) - Number(a.isFolder) || a.name.localeCompare(b.name),
  )
}

/** All folders that some files are in. */
export function foldersOf(files: Iterable<string>): Set<string> {
  const folders = new Set<string>()
  for (const file of files) {
    for (let at = file.lastIndexOf('/'); at > 0; at = file.lastIndexOf('/', at - 1)) {
      folders.add(file.slice(0, at))
    }
  }
  return folders
}

/** The files whose paths have all words of a filter, whatever their case. */
export function filtered(paths: readonly string[], filter: string): string[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  return paths.filter((path) => words.every((word) => path.toLowerCase().includes(word)))
}

/** Lines in the form of a diff in which nothing changes, so that it draws them. */
export function asDiff(lines: readonly string[]): string {
  if (lines.length === 0) return ''
  const span = `1,${lines.length}`
  return `@@ -${span} +${span} @@\n${lines.map((line) => ` ${line}\n`).join('')}`
}
