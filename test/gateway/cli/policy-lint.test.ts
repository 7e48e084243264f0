/** For authors of policies: `policy lint`, the coverage and the watch of `policy test`, and the schemas for editors. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parse } from 'yaml'
import { SHIPPED_PACKS } from '../../../gateway/config/policy.ts'
import { run } from '../../fakes/command-io.ts'
import { at, listAt } from '../../json.ts'

const HEAD = 'apiVersion: preflight.dev/v1\nkind: Policy\nmetadata: { name: p }\n'

function pack(t: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-lint-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'pack.yaml')
  writeFileSync(file, HEAD + text)
  return file
}

const rule = (when: string, rest = ''): string => `rules:\n  - { id: a, when: "${when}", then: BLOCK${rest} }\n`

const MISTAKES: readonly (readonly [when: string, message: RegExp])[] = [
  ['finding.rule', /:5:20: rule a: when is a text, but a condition must be true or false; compare it with a value/],
  ['change_set.breaking', /when is a number, but a condition must be true or false/],
  ['findings', /when is a list, but/],
  ['finding.level && true', /when uses && on a text; compare it with a value first/],
  ['!change_set.failed', /when uses ! on a number/],
  ["change_set.breaking == 'many'", /when compares a number with a text by ==/],
  ['time.date > 5', /when compares a text with a number by >/],
  ["finding.message in 'api-removed'", /looks for a value in a text; write a list/],
  ['findings.map(f, f.rule)', /when is a list, but/],
  [
    "finding.level == 'braking'",
    /compares level of findings with \\?"braking\\?", which no finding has; did you mean "breaking"\?/,
  ],
  ["finding.kind == 'lifecicle'", /did you mean "lifecycle"\?/],
  ["finding.rule == 'api-path-removed'", /compares rule of findings with/],
  ["history.last == 'BLOC'", /compares history.last with "BLOC", which it never has; did you mean "BLOCK"\?/],
  ["'openapii' in change_set.types", /did you mean "openapi"\?/],
  ["context.operatoin == 'merge'", /reads context.operatoin, which does not exist/],
  ["finding.level == 'breaking' && finding.level == 'info'", /:5:20: rule a: no finding can match this condition/],
]

for (const [when, message] of MISTAKES)
  test(`${when} is a mistake`, async (t) => {
    const { code, stdout } = await run(['policy', 'lint', pack(t, rule(when))])
    assert.equal(code, 1, stdout)
    assert.match(stdout, message)
  })

for (const when of [
  "finding.level == 'breaking'",
  "findings.exists(f, f.level == 'breaking') && tool != null",
  "context.environment == 'production' || context.operation in ['merge', 'deploy']",
  'change_set.breaking > 3 && size(change_set.consumers) > 0',
  "operation != null && operation.path.startsWith('/v1')",
  'history.last_age != null && history.last_age < 60',
  "time.weekday >= 6 ? finding.level == 'info' : false",
  'findings.exists_one(f, f.places > 2) || has(finding.rule)',
])
  test(`${when} is good`, async (t) => {
    const { code, stdout } = await run(['policy', 'lint', pack(t, rule(when)), '--strict'])
    assert.equal(code, 0, stdout)
  })

test('mistakes of every kind are listed in the order of the lines', async (t) => {
  const text = [
    'rules:',
    '  - { id: a, when: "finding.lvl", then: BLOCK }',
    '  - { id: b, when: "true", then: BLOK }',
    '  - { id: c, when: "nothing", then: BLOCK, approvals: two }',
    'waivers: [{ id: w, reason: known, owner: us, expires: 2027-01-31 }]',
    'protected_consumers: { names: [], then: BLOCK }',
    'minimum_bump: { then: BLOC }',
  ]
  const { code, stdout } = await run(['policy', 'lint', pack(t, text.join('\n'))])
  assert.equal(code, 1)
  const lines = [...stdout.matchAll(/pack\.yaml:(\d+):/g)].map(([, line]) => Number(line))
  assert.deepEqual(lines, [5, 6, 7, 7, 8, 9, 10])
})

test('rules that never decide, mistyped operations and waivers near their end are warnings', async (t) => {
  const soon = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10)
  const file = pack(
    t,
    `rules:
  - { id: narrow, when: "finding.rule == 'mcp-tool-removed' || finding.level == 'breaking'", then: WARN }
  - { id: all, when: "finding.level != 'none-such' || true", then: BLOCK }
  - { id: merges, when: "context.operation == 'mergee'", then: BLOCK, operations: [deplyo] }
waivers:
  - { id: old, rule: mcp-tool-*, reason: r, owner: ana, expires: 2020-01-01 }
  - { id: soon, rule: mcp-tool-*, reason: r, owner: ana, expires: ${soon} }
  - { id: later, rule: mcp-tool-*, reason: r, owner: ana, expires: 2199-01-01 }
`.replace("finding.level != 'none-such' || true", "finding.level != 'info' || finding.level == 'info'"),
  )
  const { code, stdout } = await run(['policy', 'lint', file])
  assert.equal(code, 0, stdout)
  for (const message of [
    /warning: .*:5:11: rule narrow never decides: rule all matches whenever it does, and calls for BLOCK/,
    /rule merges: the operation "mergee" is not one of .*did you mean "merge"\?/,
    /rule merges: the operation "deplyo" .*did you mean "deploy"\?/,
    /waiver old of ana ended on 2020-01-01/,
    /waiver soon of ana ends in [56] days/,
    /valid; policy p/,
  ])
    assert.match(stdout, message)
  assert.doesNotMatch(stdout, /later/)
  assert.equal((await run(['policy', 'lint', file, '--strict'])).code, 1)
  const json: unknown = JSON.parse((await run(['policy', 'lint', file, '--format', 'json'])).stdout)
  assert.equal(at(json, 'ok'), true)
  assert.equal(listAt(json, 'warnings').length, 5)
})

test('the shipped packs have no mistake and no warning', async () => {
  for (const name of SHIPPED_PACKS) {
    const { code, stdout } = await run(['policy', 'lint', name, '--strict'])
    assert.equal(code, 0, stdout)
  }
})

const CASES = `cases:
  - description: a breaking change is stopped
    findings: [{ rule: mcp-tool-removed, level: breaking }]
    context: { operation: merge }
    want: { decision: BLOCK }
`
const TWO_RULES = `rules:
  - { id: breaking, when: "finding.level == 'breaking'", then: BLOCK }
  - { id: weekend, for: change_set, when: "time.weekday >= 6", then: REQUIRE_APPROVAL }
`

test('policy test --coverage names the rules that no case fires, and --min fails below a share', async (t) => {
  const file = pack(t, TWO_RULES)
  writeFileSync(
    file.replace('pack.yaml', 'cases.yaml'),
    CASES.replace('    context', '    at: 2026-11-23T12:00:00Z\n    context'),
  )
  const { code, stdout } = await run(['policy', 'test', file, '--coverage'])
  assert.equal(code, 0, stdout)
  assert.match(stdout, /1 passed, 0 failed\n1 of 2 rules are fired by a case \(50 %\)\n {2}never: weekend/)
  assert.equal((await run(['policy', 'test', file, '--coverage', '--min', '50'])).code, 0)
  const low = await run(['policy', 'test', file, '--coverage', '--min', '51', '--format', 'json'])
  assert.equal(low.code, 1)
  assert.deepEqual(at(JSON.parse(low.stdout), 'coverage'), { rules: 2, fired: 1, percent: 50, never: ['weekend'] })
  assert.equal((await run(['policy', 'test', file, '--min', '5'])).code, 2)
})

test('policy test --watch runs again when the pack changes', async (t) => {
  const file = pack(t, TWO_RULES)
  writeFileSync(file.replace('pack.yaml', 'cases.yaml'), CASES)
  const child = spawn(process.execPath, ['gateway/preflight.js', 'policy', 'test', file, '--watch'])
  t.after(() => child.kill())
  let text = ''
  const seen = async (pattern: RegExp): Promise<void> => {
    while (!pattern.test(text)) {
      const [chunk]: unknown[] = await once(child.stdout, 'data')
      text += String(chunk)
    }
  }
  await seen(/1 passed, 0 failed/)
  writeFileSync(file, HEAD + TWO_RULES.replace('then: BLOCK', 'then: WARN'))
  await seen(/0 passed, 1 failed/)
})

test('the schemas for editors take the shipped packs and their cases', async () => {
  for (const [what, name] of [
    ['pack', 'pack.yaml'],
    ['cases', 'cases.yaml'],
  ] as const) {
    const { code, stdout } = await run(['policy', 'schema', what])
    assert.equal(code, 0)
    const check = new Ajv2020({ strict: false }).compile(JSON.parse(stdout))
    for (const shipped of SHIPPED_PACKS) {
      const text = readFileSync(join('policies', shipped, name), 'utf8')
      assert.ok(check(parse(text)), `${shipped} ${JSON.stringify(check.errors)}`)
    }
    assert.equal(check({ rules: 5 }), false)
  }
})
