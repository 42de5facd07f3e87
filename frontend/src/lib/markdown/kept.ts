/** The latest texts by a key, limited in number and in characters, keys included. */
export class Kept {
  #texts = new Map<string, string>()
  #characters = 0

  constructor(
    private readonly most: number,
    private readonly mostCharacters = Infinity,
  ) {}

  /** The text of a key, which becomes the latest one. */
  get(key: string): string | undefined {
    const text = this.#texts.get(key)
    if (text === undefined) return undefined
    this.#texts.delete(key)
    this.#texts.set(key, text)
    return text
  }

  set(key: string, text: string): void {
    this.#remove(key)
    this.#texts.set(key, text)
    this.#characters += key.length + text.length
    while (this.#texts.size > this.most || this.#characters > this.mostCharacters)
      this.#remove(this.#texts.keys().next().value!)
  }

  #remove(key: string): void {
    const text = this.#texts.get(key)
    if (text === undefined) return
    this.#texts.delete(key)
    this.#characters -= key.length + text.length
  }
}
