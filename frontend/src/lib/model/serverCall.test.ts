import { expect, test } from 'vitest'
import { serverCall } from './serverCall'

test.each([
  ['mcp__hub__create_issue', { server: 'hub', tool: 'create_issue' }],
  ['mcp__hub__a__b', { server: 'hub', tool: 'a__b' }],
  ['mcp__hub', undefined],
  ['Read', undefined],
])('OAS-407: %s is read as %o', (name, want) => expect(serverCall(name)).toEqual(want))
