import type { Component } from 'svelte'

export type MenuItem = {
  label: string
  icon: Component<{ size?: number; strokeWidth?: number }>
  danger?: boolean
  /** The keys that do the same, which are printed beside it. */
  keys?: string
  onselect: () => void
}
