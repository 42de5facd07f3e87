/** Whether the user may be scrolling a list with the keyboard or the pointer. */
export class Steering {
  isOn = false

  /** Tab counts as well, because it scrolls the list to the element that it focuses. */
  press = ({ key, shiftKey }: KeyboardEvent): void => {
    this.isOn = /^(ArrowUp|PageUp|Home|Tab)$/.test(key) || (key === ' ' && shiftKey)
  }

  begin = (): void => void (this.isOn = true)
  end = (): void => void (this.isOn = false)
}
