// count.mjs REPORT STATUS prints "passed failed skipped repeated replayed" for a
// test runner's report: go test's event stream, vitest's JSON or TAP. STATUS is the
// runner's exit code. A test that failed and passed when it was repeated counts
// as passed and as repeated; its failure is printed to stderr, as are failed
// tests and slow packages of Go. A result that Go has replayed counts as the result
// and as replayed.
//
// count.mjs --repeat REPORT prints "package pattern" for the tests of a Go report
// that may be repeated. A test with a data race or a panic may not, because a
// second run would hide it, and neither may a package that failed by itself.
import { readFileSync } from 'node:fs'

/** More failures than this are not chance. */
const mostRepeated = 5

function goReport(text) {
  const tests = new Map()
  const packages = new Map()
  for (const line of text.split('\n')) {
    if (!line.startsWith('{')) continue
    const { Action, Package, ImportPath, Test, Output, Elapsed } = JSON.parse(line)
    const of = Test ? tests : packages
    const id = `${Package ?? ImportPath} ${Test ?? ''}`
    if (!of.has(id)) of.set(id, { output: '', elapsed: 0, failures: 0 })
    const it = of.get(id)
    if (Output) it.output += Output
    if (!['pass', 'fail', 'skip', 'build-fail'].includes(Action)) continue
    it.action = Action
    it.elapsed += Elapsed ?? 0
    if (Action === 'fail') it.failures++
  }
  for (const of of [tests, packages]) for (const [id, { action }] of of) if (!action) of.delete(id)
  return { tests, packages }
}

const failedOf = (tests) => [...tests].filter(([, { action }]) => action === 'fail')

function goRepeat(text) {
  const failed = failedOf(goReport(text).tests)
  const tops = failed.filter(([id]) => !id.includes('/', id.indexOf(' ')))
  const isCrash = failed.some(([, { output }]) => /^(panic|fatal error): /m.test(output))
  if (isCrash || text.includes('DATA RACE') || tops.length > mostRepeated) return []
  const of = new Map()
  for (const [id] of tops) {
    const [name, test] = id.split(' ')
    of.set(name, [...(of.get(name) ?? []), test])
  }
  return [...of].map(([name, names]) => `${name} ^(${names.join('|')})$`)
}

function goCounts(text) {
  const { tests, packages } = goReport(text)
  // A test with subtests counts as its subtests.
  const parents = new Set([...tests.keys()].map((id) => id.slice(0, id.lastIndexOf('/'))))
  const failed = failedOf(tests)
  const replayed = new Set([...packages].filter(([, { output }]) => output.includes('\t(cached)')).map(([id]) => id.trimEnd()))
  const counts = { pass: 0, fail: 0, skip: 0, repeated: 0, replayed: 0 }
  for (const [id, { action, output, failures }] of tests) {
    const isCounted = !parents.has(id) || (action === 'fail' && !failed.some(([t]) => t.startsWith(`${id}/`)))
    if (isCounted) counts[action]++
    if (isCounted && replayed.has(id.slice(0, id.indexOf(' ')))) counts.replayed++
    if (isCounted && action === 'pass' && failures > 0) counts.repeated++
    if (failures > 0) console.error(output)
  }
  for (const [id, { action, output }] of packages) {
    if (!action.endsWith('fail') || failed.some(([test]) => test.startsWith(id))) continue
    // It did not compile, which its package reports as well, or crashed outside a test.
    if (action === 'fail') counts.fail++
    console.error(output || `${id}failed`)
  }
  const slow = [...packages].filter(([id, { elapsed }]) => elapsed >= 5 && !replayed.has(id.trimEnd())).sort(([, a], [, b]) => b.elapsed - a.elapsed)
  for (const [id, { elapsed }] of slow) console.error(`${String(Math.round(elapsed)).padStart(4)} s  ${id}`)
  return [counts.pass, counts.fail, counts.skip, counts.repeated, counts.replayed]
}

function vitestCounts(text) {
  const report = JSON.parse(text)
  // A file that cannot be loaded has no tests, but counts as a failure.
  const broken = report.testResults.filter((f) => f.status === 'failed' && !f.assertionResults.some((t) => t.status === 'failed'))
  const repeated = report.testResults.flatMap((f) => f.assertionResults.filter((t) => t.status === 'passed' && t.failureMessages.length > 0))
  for (const { fullName, failureMessages } of repeated) console.error(`passed when it was repeated: ${fullName}\n${failureMessages.join('\n')}`)
  return [report.numPassedTests, report.numFailedTests + broken.length, report.numPendingTests + report.numTodoTests, repeated.length, 0]
}

function tapCounts(text) {
  const total = (name) => Number(text.match(new RegExp(`^# ${name} (\\d+)$`, 'm'))[1])
  return [total('pass'), total('fail') + total('cancelled'), total('skipped') + total('todo'), 0, 0]
}

function counts(path) {
  try {
    const text = readFileSync(path, 'utf8')
    if (path.endsWith('.vitest.json')) return vitestCounts(text)
    return path.endsWith('.tap') ? tapCounts(text) : goCounts(text)
  } catch (error) {
    console.error(`no report: ${error.message}`)
    return [0, 0, 0, 0, 0]
  }
}

if (process.argv[2] === '--repeat') {
  for (const line of goRepeat(readFileSync(process.argv[3], 'utf8'))) console.log(line)
} else {
  const [, , path, status] = process.argv
  const [passed, failed, skipped, repeated, replayed] = counts(path)
  console.log(passed, failed || (status === '0' ? 0 : 1), skipped, repeated, replayed)
}
