import { expect, test } from 'vitest'
import { shellCode } from './shell'

test.each([
  ['go test ./...\n', 'sh', 'go test ./...'],
  ['$ make\nok\n$ make test\nall 3 passed\n', 'console', 'make\nmake test'],
  ['cd x &&\n  ls\n', 'Bash', 'cd x &&\n  ls'],
  ['  \n', 'sh', undefined],
  ['print(1)', 'python', undefined],
  ['ls', '', undefined],
])('%j in %j', (code, language, expected) => {
  expect(shellCode(code, language)).toBe(expected)
})
