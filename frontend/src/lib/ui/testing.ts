import { render } from '@testing-library/svelte'
import { Tooltip } from 'bits-ui'
import { type Component, createRawSnippet, mount, unmount } from 'svelte'

/** Renders a component inside the providers that the application puts around everything. */
export function renderInApp<P extends Record<string, unknown>>(
  component: Component<P>,
  props: P,
): void {
  const children = createRawSnippet(() => ({
    render: () => '<div></div>',
    setup: (target) => {
      const mounted = mount(component, { target, props })
      return () => void unmount(mounted)
    },
  }))
  render(Tooltip.Provider, { children })
}
