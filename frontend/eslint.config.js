import svelte from 'eslint-plugin-svelte'
import globals from 'globals'
import ts from 'typescript-eslint'
import svelteConfig from './svelte.config.js'

export default ts.config(
  { ignores: ['dist/', 'node_modules/'] },
  ...ts.configs.recommended,
  ...svelte.configs.recommended,
  { languageOptions: { globals: { ...globals.browser, ...globals.node } } },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, svelteConfig } },
  },
  {
    files: ['**/*.svelte'],
    rules: {
      'max-lines': ['error', 200],
      // Only Markdown.svelte and CodeBlock.svelte insert HTML, after DOMPurify.
      'svelte/no-at-html-tags': 'error',
    },
  },
  {
    files: ['src/lib/markdown/*.svelte'],
    rules: { 'svelte/no-at-html-tags': 'off' },
  },
  {
    files: ['src/**'],
    ignores: ['src/lib/api.ts', 'src/lib/transport.ts', 'src/**/*.test.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ group: ['**/transport'], message: 'Only api.ts knows the transport.' }] },
      ],
    },
  },
)
