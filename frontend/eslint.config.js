import svelte from 'eslint-plugin-svelte'
import globals from 'globals'
import ts from 'typescript-eslint'
import { rooms } from './rooms.js'
import svelteConfig from './svelte.config.js'

const onlyApp = {
  group: ['**/transport'],
  message: 'Only App.svelte connects the page; the rest is given an Api.',
}

/** What a room must not import: the rooms after it, and for some rooms more. */
function imports(room, at) {
  const patterns = [onlyApp]
  const later = rooms.slice(at + 1).join('|')
  if (later) {
    const message = `${room} comes before it in rooms.js.`
    patterns.push({ regex: `^\\.\\./(${later})/`, message })
  }
  if (room === 'i18n') {
    patterns.push({ group: ['**/api'], message: 'Messages call nothing.' })
  }
  if (room === 'model') {
    const message = 'The model is made of itself and of the types of the wire.'
    patterns.push({ regex: '^(?!\\./|\\.\\./types\\.gen$)', message })
  }
  return {
    files: [`src/lib/${room}/**`],
    ignores: room === 'model' ? ['**/*.test.ts'] : [],
    rules: { 'no-restricted-imports': ['error', { patterns }] },
  }
}

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
      'max-lines': ['error', 230],
      // Only Markdown.svelte and CodeBlock.svelte insert HTML, after DOMPurify.
      'svelte/no-at-html-tags': 'error',
    },
  },
  {
    files: ['src/lib/markdown/*.svelte'],
    rules: { 'svelte/no-at-html-tags': 'off' },
  },
  {
    files: ['src/*', 'src/lib/*'],
    ignores: ['src/App.svelte', 'src/lib/transport.test.ts'],
    rules: { 'no-restricted-imports': ['error', { patterns: [onlyApp] }] },
  },
  ...rooms.map(imports),
  {
    files: ['src/**'],
    ignores: ['**/*.test.ts', 'src/lib/state/remember.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        { name: 'localStorage', message: 'It may throw; use state/remember.ts.' },
      ],
    },
  },
  {
    files: ['src/lib/model/**'],
    ignores: ['**/*.test.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        'document',
        'localStorage',
        'location',
        'navigator',
        'window',
      ],
    },
  },
)
