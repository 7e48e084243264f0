/** Trying a pack on the command line: what it would decide, why, and its test cases for a CI server. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { run } from '../../fakes/command-io.ts'
import { PETS, PETS_WITH_POST, PETS_WITHOUT_DELETE } from '../../fakes/contracts.ts'
import { at, listAt } from '../../json.ts'
import { elementsOf } from '../../xml.ts'

const directory = mkdtempSync(join(tmpdir(), 'preflight-simulate-'))
after(() => rmSync(directory, { recursive: true, force: true }))

function file(name: string, content: string): string {
  writeFileSync(join(directory, name), content)
  return join(directory, name)
}

const before = file('before.json', PETS)
const broken = file('broken.json', PETS_WITHOUT_DELETE)
const grown = file('grown.json', PETS_WITH_POST)
const HEAD = { apiVersion: 'preflight.dev/v1', kind: 'Policy', metadata: { name: 'mine' } }
const pack = file(
  'pack.yaml',
  JSON.stringify({
    ...HEAD,
    rules: [
      { id: 'breaking', when: "finding.level == 'breaking'", then: 'BLOCK' },
      { id: 'info', when: "finding.level == 'info'", then: 'BLOCK', mode: 'observe' },
      { id: 'prod', when: 'true', then: 'WARN', environments: ['prod'] },
      { id: 'odd', when: "finding.level == 'breaking' && operation.operation_id.size() > 3", then: 'WARN' },
      {
        id: 'night',
        for: 'change_set',
        when: 'time.hour < 6',
        then: 'REQUIRE_APPROVAL',
        reason: { code: 'NIGHT', message: 'At night' },
      },
    ],
  }),
)
const DAY = ['--at', '2026-11-21T12:00:00Z']

const simulated = async (...words: readonly string[]) => {
  const { code, stdout } = await run(['policy', ...words, '--format', 'json'])
  const view: unknown = JSON.parse(stdout)
  return { code, view }
}

test('a change that a shipped pack blocks is held up, with the rule that says so', async () => {
  const { code, stdout } = await run(['policy', 'simulate', 'default', before, broken, '--operation', 'merge'])
  assert.equal(code, 1)
  assert.match(stdout, /^default: BLOCK\n/)
  assert.match(stdout, /BLOCK {2}api-removed-without-deprecation .*\n {4}by rule breaking-blocks: /)
  assert.match(stdout, /not a permission/)
})

test('an allowed change exits 0, and observe-only rules are reported', async () => {
  const { code, view } = await simulated('simulate', pack, before, grown, ...DAY)
  assert.equal(code, 0)
  assert.deepEqual([at(view, 'decision'), at(view, 'observed_decision')], ['WARN', 'BLOCK'])
  assert.deepEqual(at(view, 'changes', 0, 'observed'), { rule: 'info', decision: 'BLOCK' })
  assert.equal(at(view, 'authorization_effect'), 'NONE')
  assert.equal(at(view, 'changes', 0, 'answers'), undefined)
})

test('the moment and the context are those of the options', async () => {
  const night = await simulated('simulate', pack, before, before, '--at', '2026-11-21T03:00:00Z')
  assert.deepEqual([night.code, at(night.view, 'decision')], [1, 'REQUIRE_APPROVAL'])
  assert.equal(at(night.view, 'change_set', 0, 'reason', 'code'), 'NIGHT')
  const day = await simulated('simulate', pack, before, before, ...DAY)
  assert.deepEqual([day.code, at(day.view, 'decision')], [0, 'ALLOW'])
})

test('an explanation has the answer of every rule to every change', async () => {
  const { code, view } = await simulated('explain', pack, before, broken, ...DAY)
  assert.equal(code, 3)
  assert.equal(at(view, 'decision'), 'BLOCK')
  assert.deepEqual(
    listAt(view, 'changes', 0, 'answers').map((row) => [at(row, 'ruleId'), at(row, 'answer')]),
    [
      ['breaking', 'matches'],
      ['info', 'silent'],
      ['prod', 'elsewhere'],
      ['odd', 'failed'],
    ],
  )
  const { stdout } = await run(['policy', 'explain', pack, before, grown, '--environment', 'prod', ...DAY])
  assert.match(stdout, /Rule prod decides WARN\. Its condition is true:/)
  assert.match(stdout, /Rule breaking does not match\. Its condition is false:\n.*finding\.level is "info"/)
  assert.match(stdout, /Rule info matches too: BLOCK, which it only observes\./)
  assert.match(stdout, /It would match if this were true: finding\.level == 'breaking'\./)
})

test('test cases are explained with the pack next to them, or with a named one', async () => {
  const finding = { rule: 'api-removed-without-deprecation', level: 'breaking' }
  const one = {
    description: 'a removal',
    at: '2026-11-21T12:00:00Z',
    findings: [finding],
    context: { operation: 'merge' },
    want: { decision: 'BLOCK' },
  }
  const cases = file('explained.yaml', JSON.stringify({ cases: [one] }))
  for (const named of [[], [pack]]) {
    const { code, stdout, stderr } = await run(['policy', 'explain', ...named, '--case', cases])
    assert.equal(code, 0, stderr)
    assert.match(stdout, /a removal \(wants BLOCK\)\n {2}BLOCK {2}api-removed-without-deprecation/)
    assert.match(stdout, /Rule breaking decides BLOCK/)
  }
  for (const wrong of [[pack, before], ['nothing'], [], [pack, before, '--case', cases]])
    assert.equal((await run(['policy', 'explain', ...wrong])).code, 2, wrong.join(' '))
})

test('what cannot be analysed, read or understood has its own exit code', async () => {
  const junk = file('junk.json', '{')
  assert.equal((await run(['policy', 'simulate', 'default', before, junk, '--type', 'openapi'])).code, 3)
  assert.equal((await run(['policy', 'simulate', 'default', before, junk])).code, 2)
  assert.equal((await run(['policy', 'simulate', 'nowhere', before, broken])).code, 2)
  assert.equal((await run(['policy', 'simulate', 'default', before, broken, '--at', 'soon'])).code, 2)
  assert.equal((await run(['policy', 'simulate', 'default', before])).code, 2)
  for (const word of ['simulate', 'explain']) assert.equal((await run(['policy', word, '--help'])).code, 0)
})

test('test cases are written as JUnit XML, whatever their words are', async () => {
  const context = { operation: 'merge' }
  const cases = file(
    'cases.yaml',
    JSON.stringify({
      cases: [
        {
          description: 'blocks <breaks> & "all"',
          at: '2026-11-21T12:00:00Z',
          findings: [{ rule: 'x', level: 'breaking', operation: 'GET /pets' }],
          context,
          want: { decision: 'ALLOW' },
        },
        { description: 'lets go', at: '2026-11-21T12:00:00Z', context, want: { decision: 'ALLOW' } },
      ],
    }),
  )
  const { code, stdout } = await run(['policy', 'test', pack, '--cases', cases, '--format', 'junit'])
  assert.equal(code, 1)
  const elements = elementsOf(stdout)
  const named = (name: string) => elements.filter((element) => element.name === name)
  assert.equal(named('testcase').length, 2)
  assert.equal(named('failure').length, 1)
  assert.equal(named('testcase')[0]?.attributes['name'], 'blocks <breaks> & "all"')
  assert.equal(named('testsuite')[0]?.attributes['failures'], '1')
})
