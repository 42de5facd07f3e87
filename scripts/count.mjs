// count.mjs REPORT STATUS prints "passed failed skipped" for a test runner's
// report: go test's event stream, vitest's JSON or TAP. STATUS is the runner's
// exit code. From Go's report it also prints failed and slow tests to stderr.
import { readFileSync } from 'node:fs'

const [, , path, status] = process.argv

function goCounts(text) {
  const events = text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
  const outputs = new Map()
  const tests = new Map()
  const packages = []
  for (const { Action, Package, ImportPath, Test, Output, Elapsed } of events) {
    const id = `${Package ?? ImportPath} ${Test ?? ''}`
    if (Output) outputs.set(id, (outputs.get(id) ?? '') + Output)
    if (!['pass', 'fail', 'skip', 'build-fail'].includes(Action)) continue
    if (Test) tests.set(id, Action)
    else packages.push({ Action, id, Elapsed: Elapsed ?? 0 })
  }
  // A test with subtests counts as its subtests.
  const parents = new Set([...tests.keys()].map((id) => id.slice(0, id.lastIndexOf('/'))))
  const counts = { pass: 0, fail: 0, skip: 0 }
  for (const [id, action] of tests) {
    if (!parents.has(id) || (action === 'fail' && ![...tests].some(([t, a]) => a === 'fail' && t.startsWith(`${id}/`)))) counts[action]++
    if (action === 'fail') console.error(outputs.get(id))
  }
  for (const { Action, id } of packages) {
    const own = [...tests].some(([t, action]) => action === 'fail' && t.startsWith(id))
    if (!Action.endsWith('fail') || own) continue
    // It did not compile, which its package reports as well, or crashed outside a test.
    if (Action === 'fail') counts.fail++
    console.error(outputs.get(id) ?? `${id}failed`)
  }
  const slow = packages.filter((p) => p.Elapsed >= 5).sort((a, b) => b.Elapsed - a.Elapsed)
  for (const { id, Elapsed } of slow) console.error(`${String(Math.round(Elapsed)).padStart(4)} s  ${id}`)
  return [counts.pass, counts.fail, counts.skip]
}

function vitestCounts(text) {
  const report = JSON.parse(text)
  // A file that cannot be loaded has no tests, but counts as a failure.
  const broken = report.testResults.filter((f) => f.status === 'failed' && !f.assertionResults.some((t) => t.status === 'failed'))
  return [report.numPassedTests, report.numFailedTests + broken.length, report.numPendingTests + report.numTodoTests]
}

function tapCounts(text) {
  const total = (name) => Number(text.match(new RegExp(`^# ${name} (\\d+)$`, 'm'))[1])
  return [total('pass'), total('fail') + total('cancelled'), total('skipped') + total('todo')]
}

function counts() {
  try {
    const text = readFileSync(path, 'utf8')
    if (path.endsWith('.vitest.json')) return vitestCounts(text)
    return path.endsWith('.tap') ? tapCounts(text) : goCounts(text)
  } catch (error) {
    console.error(`no report: ${error.message}`)
    return [0, 0, 0]
  }
}

const [passed, failed, skipped] = counts()
console.log(passed, failed || (status === '0' ? 0 : 1), skipped)
