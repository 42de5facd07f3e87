import type { Component } from 'svelte'

export type MenuItem = {
  label: string
  icon: Component<{ size?: number; strokeWidth?: number }>
  danger?: boolean
  onselect: () => void
}
