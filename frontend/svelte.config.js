import { vitePreprocess } from '@sveltejs/vite-plugin-svelte'

export default {
  preprocess: vitePreprocess(),
  compilerOptions: { runes: true },
  vitePlugin: {
    // Dependencies choose whether they use runes.
    dynamicCompileOptions({ filename }) {
      return filename.includes('node_modules') ? { runes: undefined } : undefined
    },
  },
}
