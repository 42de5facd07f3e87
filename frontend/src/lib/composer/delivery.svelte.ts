import type { Attachment } from '../model/attached'
import { removeFiles } from '../state/attachments.svelte'
import { forgetHeir, heirOf, takeSent } from '../state/drafts.svelte'

type Text = {
  text: string
  /** Whose draft it is in. */
  owner: string
  /** False if it was not accepted. */
  take: () => Promise<boolean>
  /** What goes with it. */
  files: readonly Attachment[]
}

/**
 * Delivers what is typed in the message field, one text after the other. A text stays in the field
 * until it was accepted; text that is typed after it can be delivered meanwhile, and follows it.
 */
export class Delivery {
  #texts = $state.raw<readonly Text[]>([])

  constructor(private readonly owner: () => string) {}

  get busy(): boolean {
    return this.#texts.length > 0
  }

  /** The part of the field's text that is not on its way. */
  rest(text: string): string {
    const sent = this.#texts.filter(this.#isHere).map((it) => it.text)
    const all = sent.join('')
    return text.startsWith(all) ? text.slice(all.length) : text
  }

  /** The files that are not on their way. */
  others(files: readonly Attachment[]): readonly Attachment[] {
    const away = this.#texts.flatMap((it) => it.files.map(({ path }) => path))
    return files.filter(({ path }) => !away.includes(path))
  }

  /** Delivers a text of the field. If it is refused, it stays there, with all that should follow it. */
  async give(text: string, take: () => Promise<boolean>, files: Text['files'] = []) {
    this.#texts = [...this.#texts, { text, owner: this.owner(), take, files }]
    if (this.#texts.length > 1) return
    for (let [first] = this.#texts; first; [first] = this.#texts) {
      const { text, owner, take } = first
      const isTaken = this.#isHere(first) && (await take())
      if (!isTaken) {
        this.#texts = []
        forgetHeir(owner) // or the next text of this start would count as the session's
        return
      }
      removeFiles(heirOf(owner), first.files)
      const now = takeSent(owner, text)
      const others = this.#texts.slice(1)
      this.#texts = others.map((it) => (it.owner === owner ? { ...it, owner: now } : it))
    }
  }

  /** Whether a text is in the draft that the field shows. */
  readonly #isHere = ({ owner }: Text): boolean => heirOf(owner) === this.owner()
}
