/** How a terminal looks: the page's colours and font. */
import type { ITheme } from '@xterm/xterm'

export function themeOf(element: Element): ITheme {
  const style = getComputedStyle(element)
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim()
  const colours = Object.fromEntries(
    ['red', 'green', 'yellow', 'blue', 'magenta', 'cyan'].flatMap((name) => [
      [name, colour(name)],
      [`bright${name[0]!.toUpperCase()}${name.slice(1)}`, colour(name)],
    ]),
  )
  return {
    ...colours,
    background: colour('sheet'),
    foreground: colour('ink'),
    cursor: colour('accent'),
    cursorAccent: colour('accent-ink'),
    selectionBackground: colour('line-strong'),
    black: colour('ink-faint'),
    brightBlack: colour('ink-faint'),
    white: colour('ink-soft'),
    brightWhite: colour('ink'),
  }
}

export function fontOf(element: Element): { fontFamily: string; fontSize: number } {
  const style = getComputedStyle(element)
  return {
    fontFamily: style.fontFamily,
    fontSize: Number.parseFloat(style.fontSize) || 12,
  }
}
