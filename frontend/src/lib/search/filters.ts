/** The filters that the dialog offers, with an example of each. */
export const filters = [
  { name: 'file', example: 'src/app.ts' },
  { name: 'tool', example: 'Bash' },
  { name: 'model', example: 'gpt' },
  { name: 'tag', example: 'bug' },
  { name: 'cost', example: '>0.5' },
  { name: 'after', example: '2026-11-01' },
  { name: 'before', example: 'yesterday' },
  { name: 'in', example: 'prompt' },
  { name: 'is', example: 'archived' },
] as const
