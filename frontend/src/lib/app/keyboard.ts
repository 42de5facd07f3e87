import { type Jump, jumpOf } from '../ui/jumps'
import { type Command, commandOf, type Keys } from '../model/keymap'
import { isComposing, isTyping } from '../ui/keys'
import { panelAt } from '../ui/panelKeys'

type Handlers = {
  /** The keys of the commands. */
  keys: () => Keys
  command: (command: Command) => void
  jump: (to: Jump) => void
  /** Opens the panel at a place of the rail, from 0. */
  panel: (at: number) => void
  escape: () => void
}

/** Handles the keys that nothing else in the page handled. An open dialog, menu or list gets every key first, and a field gets Escape first. */
export const keyboard = (handlers: Handlers) => (event: KeyboardEvent) => {
  if (event.defaultPrevented) return
  const covered = document.querySelector('[role=dialog], [role=menu], [role=listbox]')
  const isTyped = [...event.key].length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey
  const command =
    isComposing(event) || (isTyped && isTyping(event.target))
      ? undefined
      : commandOf(event, handlers.keys())
  if (command) {
    event.preventDefault()
    if (!covered) handlers.command(command)
    return
  }
  const jump = isComposing(event) ? undefined : jumpOf(event)
  if (jump) {
    event.preventDefault()
    if (!covered) handlers.jump(jump)
    return
  }
  const panel = isComposing(event) ? undefined : panelAt(event)
  if (panel !== undefined) {
    event.preventDefault()
    if (!covered) handlers.panel(panel)
    return
  }
  const inField = event.target instanceof HTMLInputElement
  if (event.key === 'Escape' && !isComposing(event) && !covered && !inField) handlers.escape()
}
