const itemOf = (target: EventTarget | null) =>
  target instanceof Element ? target.closest<HTMLElement>('[data-item]')?.dataset.item : undefined

/** The item of a list that contains the focus. The focus would be lost if the item were no longer drawn. */
export class FocusedItem {
  key = $state<string>()

  constructor(private readonly list: () => HTMLElement | undefined) {}

  /** The index of the item, which stays drawn when it is scrolled out of view. */
  among(items: readonly { key: string }[]): number[] {
    const at = this.key === undefined ? -1 : items.findLastIndex(({ key }) => key === this.key)
    return at < 0 ? [] : [at]
  }

  enter = ({ target }: FocusEvent): void => {
    this.key = itemOf(target)
  }

  /** It waits, because an item that is being removed loses the focus while items are drawn. */
  leave = ({ relatedTarget }: FocusEvent): void => {
    if (relatedTarget) this.key = itemOf(relatedTarget)
    else
      queueMicrotask(() => {
        if (!this.list()?.contains(document.activeElement)) this.key = undefined
      })
  }
}
