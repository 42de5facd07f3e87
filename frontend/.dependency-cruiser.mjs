// Cycles between files, which ESLint cannot follow through components. A component that shows
// itself, as an entry does that holds a conversation, is not one.
export default {
  forbidden: [
    {
      name: 'no-cycle',
      severity: 'error',
      from: { path: '(.+)' },
      to: { circular: true, pathNot: '^$1$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
  },
}
