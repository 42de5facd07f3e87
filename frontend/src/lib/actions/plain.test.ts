import { expect, test } from 'vitest'
import { plainText } from './plain'

test.each<[string, string, string]>([
  [
    'marks',
    '# Title\n\nIt is **bold**, `code` and [a link](https://a.b).',
    'Title\n\nIt is bold, code and a link.',
  ],
  ['lines', 'one\ntwo  \nthree', 'one two\nthree'],
  ['a tight list', '- a\n- b\n  - c\n\nend', '• a\n• b\n  • c\n\nend'],
  ['a loose list', '3. a\n\n4. b\n\n   more', '3. a\n\n4. b\n\n   more'],
  ['a list in a list', '- - a\n  - b', '• • a\n  • b'],
  ['tasks', '- [ ] open\n- [x] done', '• ☐ open\n• ☑ done'],
  ['code', 'Run:\n\n```sh\nls  -l\n\n# all\n```', 'Run:\n\nls  -l\n\n# all'],
  ['code in a list', '- run\n\n  ```\n  ls\n  ```', '• run\n\n  ls'],
  ['a table', '| a | **b** |\n|---|---|\n| 1 | 2 |', 'a\tb\n1\t2'],
  ['a quote and a line', '> said\n\n---\n\n![a cat](https://a.b/c.png)', 'said\n\n———\n\na cat'],
  ['HTML, which is text', '<b onclick="x()">hi</b>', '<b onclick="x()">hi</b>'],
  ['characters that reorder', 'a\u202eb', 'a⟨U+202E⟩b'],
  ['nothing', '', ''],
])('%s', (_, markdown, text) => {
  expect(plainText(markdown)).toBe(text)
})
