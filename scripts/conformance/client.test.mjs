// Every client scenario of the official suite, in every version of the protocol that it is
// for, against Atelier's own connections.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { checked, faults, missing, run, scenarios } from './suite.mjs'

const client = join(import.meta.dirname, '../../build/bin', `conformance-client${process.platform === 'win32' ? '.exe' : ''}`)

// Servers that a client has to refuse, and one that asks for consent without end.
const refused = /^auth\/(resource-mismatch|metadata-issuer-mismatch|iss-(supported-missing|wrong-issuer|unexpected|normalized)|scope-retry-limit)$/

// Scenarios that Atelier does not pass, and why.
const expected = {}

// Scenarios of extensions that Atelier does not have; the suite checks nothing.
const absent = /^sep-2640-/

test('the suite', { skip: missing }, async (t) => {
  const all = await scenarios('client')
  assert.ok(all.length >= 48, `the suite has ${all.length} scenarios`)
  const of = (version) => all.filter(({ versions }) => versions.includes(version)).map(({ name }) => name)
  const check = (name, version, result) =>
    t.test(`${name}, ${version}`, { skip: absent.test(name) && 'Atelier does not have this extension' }, () => {
      assert.ok(result, 'the suite did not run it')
      const wrong = faults(result)
      if (expected[name]) return assert.notEqual(wrong.length, 0, `it passes now; it was expected to fail because ${expected[name]}`)
      const said = `${result.stdout}${result.stderr}`
      assert.deepEqual(wrong, [], said)
      assert.ok(checked(result), `the suite checked nothing\n${said}`)
      assert.match(result.stdout, refused.test(name) ? /^failed: /m : /^done$/m)
    })
  const command = ['client', '--command', client]
  for (const version of ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']) {
    const results = await run([...command, '--suite', 'all', '--spec-version', version])
    for (const name of of(version)) await check(name, version, results.get(name))
  }
  // Extensions belong to no version: the suite speaks that of 2025 with them unless it is told
  // otherwise, which it takes for single scenarios only.
  const results = await run([...command, '--suite', 'extensions'])
  for (const name of of('extension')) {
    await check(name, '2025-11-25', results.get(name))
    if (absent.test(name)) continue
    const newest = await run([...command, '--scenario', name, '--spec-version', '2026-07-28', '--force'])
    await check(name, '2026-07-28', newest.get(name))
  }
})
