/** Reports of a comparison for other programs: JUnit, GitHub annotations, SARIF and Markdown, with ignore lists and options. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { after, suite, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { annotationOf, type ReportedDocument, type ReportContext } from '../../../gateway/report/annotation.ts'
import { diffReport } from '../../../gateway/report/diff-report.ts'
import { ignoreFindings, type IgnoreEntry } from '../../../gateway/report/ignore-list.ts'
import { renderReport, type ReportForm } from '../../../gateway/report/report.ts'
import { run } from '../../fakes/command-io.ts'
import { fakeComparison, type FakeFinding } from '../../fakes/comparisons.ts'
import { sarifExcerpt } from '../../fakes/sarif-excerpt.ts'
import { at, listAt, textAt } from '../../json.ts'
import { elementsOf, type XmlElement } from '../../xml.ts'

const directory = mkdtempSync(join(tmpdir(), 'preflight-report-'))
after(() => rmSync(directory, { recursive: true, force: true }))

function file(name: string, content: string): string {
  const path = join(directory, name)
  writeFileSync(path, content)
  return path
}

function contract(paths: object, version = '1'): string {
  return JSON.stringify({ openapi: '3.0.3', info: { title: 't', version }, paths }, null, 1)
}

const OPERATION = { responses: { 200: { description: 'ok' } } }
const both = file('both.json', contract({ '/a': { get: OPERATION }, '/b': { get: OPERATION } }))
const one = file('one.json', contract({ '/a': { get: OPERATION } }, '2'))

const BASE: ReportedDocument = { name: 'old.yaml', path: 'old.yaml', isCheckedOut: true }
const HEAD: ReportedDocument = { name: 'new.yaml', path: 'new.yaml', isCheckedOut: true }

const FINDINGS: readonly FakeFinding[] = [
  { rule: 'api-path-removed-without-deprecation', level: 'breaking', places: ['GET /a', 'GET /b'] },
  { rule: 'request-property-removed', level: 'dangerous', message: 'gone: 50%, <b> & "c"', places: ['POST /a'] },
  { rule: 'endpoint-added', level: 'info', places: ['PUT /a'] },
]

function context(findings: readonly FakeFinding[], rest: Partial<ReportContext> = {}): ReportContext {
  const report = diffReport(fakeComparison(findings), 100)
  const documents = { base: BASE, head: HEAD }
  return { report, documents, ignored: [], failOn: 'breaking', isColoured: false, version: '1.2.3', ...rest }
}

function rendered(form: ReportForm, rest: Partial<ReportContext> = {}): string {
  return renderReport(form, context(FINDINGS, rest))
}

function log(rest: Partial<ReportContext> = {}): unknown {
  return JSON.parse(rendered('sarif', rest))
}

function entry(rest: Partial<IgnoreEntry>): IgnoreEntry {
  return { reason: 'known', place: 'i.yaml:2:5', ...rest }
}

/** Where the findings stand that an entry leaves. */
function left(rest: Partial<IgnoreEntry>, today = '2026-01-01'): readonly string[] {
  const { comparison } = ignoreFindings(fakeComparison(FINDINGS), [entry(rest)], today)
  return comparison.groups.flatMap(({ occurrences }) =>
    occurrences.map(({ message }) => message.split(' ').slice(-2).join(' ')),
  )
}

function named(elements: readonly XmlElement[], name: string): readonly XmlElement[] {
  return elements.filter((element) => element.name === name)
}

suite('JUnit XML', () => {
  test('has one case a change, and fails those at the level that fails the command', () => {
    const elements = elementsOf(rendered('junit'))
    const [suites] = named(elements, 'testsuites')
    assert.equal(suites?.attributes['tests'], '3')
    assert.equal(suites.attributes['failures'], '1')
    const cases = named(elements, 'testcase')
    assert.deepEqual(
      cases.map(({ attributes }) => attributes['classname']),
      FINDINGS.map(({ rule }) => rule),
    )
    assert.equal(cases[0]?.attributes['file'], 'new.yaml')
    assert.equal(cases[0].attributes['line'], '3')
    assert.equal(named(elements, 'failure').length, 1)
    assert.equal(named(elementsOf(rendered('junit', { failOn: 'dangerous' })), 'failure').length, 2)
    assert.equal(named(elementsOf(rendered('junit', { failOn: null })), 'failure').length, 0)
  })

  test('keeps what a contract says from becoming markup', () => {
    const elements = elementsOf(rendered('junit', { failOn: 'dangerous' }))
    assert.equal(named(elements, 'failure')[1]?.attributes['message'], 'gone: 50%, <b> & "c" (POST /a)')
    const lone = renderReport(
      'junit',
      context([{ rule: 'endpoint-added', level: 'info', message: '\uD800\uFFFF\u0007' }]),
    )
    assert.match(named(elementsOf(lone), 'testcase')[0]?.attributes['name'] ?? '', /^\uFFFD\uFFFD\\u\{7\} /)
  })

  test('has a case that passed where nothing was found', () => {
    const cases = named(elementsOf(renderReport('junit', context([]))), 'testcase')
    assert.deepEqual(
      cases.map(({ attributes }) => attributes['name']),
      ['no change of meaning was found'],
    )
  })
})

suite('GitHub annotations', () => {
  test('are one command a change, at the line of the contract', () => {
    const lines = rendered('github').trimEnd().split('\n')
    assert.equal(lines.length, 4)
    assert.match(lines[0] ?? '', /^::error file=new\.yaml,line=3,col=5,title=api-path-removed-without-deprecation::/)
    assert.match(lines[1] ?? '', /^::warning .*::gone: 50%25, <b> & "c" \(POST \/a\)%0AAt: /)
    assert.match(lines[2] ?? '', /^::notice /)
    assert.equal(lines[3], '1 breaking (at 2 places), 1 dangerous, 1 compatible')
  })

  test('keep a contract or a file name from giving commands', () => {
    const message = 'x\n::stop-commands::t\r\n::error::y'
    const documents = { base: BASE, head: { ...HEAD, path: 'a,line=9::b%.yaml' } }
    const text = renderReport('github', context([{ rule: 'endpoint-added', level: 'info', message }], { documents }))
    const lines = text.trimEnd().split('\n')
    assert.equal(lines.length, 2)
    assert.match(lines[0] ?? '', /^::notice file=a%2Cline=9%3A%3Ab%25\.yaml,line=3,/)
    assert.ok(!lines[1]?.startsWith('::'))
  })
})

suite('SARIF', () => {
  const check = new Ajv2020({ allErrors: true }).compile(sarifExcerpt)
  test('is of the structure of SARIF 2.1.0', () => {
    const stdin = { name: 'stdin', path: null, isCheckedOut: false }
    const list = ignoreFindings(
      fakeComparison(FINDINGS),
      [{ method: 'GET', reason: 'known', place: 'i.yaml:2:5' }],
      '2026-01-01',
    )
    const forms = [log(), log({ documents: { base: stdin, head: stdin } }), log({ ignored: list.ignored })]
    for (const form of forms) assert.ok(check(form), JSON.stringify(check.errors))
    assert.ok(!check({ ...Object(forms[0]), version: '2.0.0' }))
  })

  test('has a result a change, each with its rule, its level, its place and a fingerprint', () => {
    const [runOf] = listAt(log(), 'runs')
    const results = listAt(runOf, 'results')
    const rules = listAt(at(runOf, 'tool', 'driver'), 'rules')
    assert.deepEqual(
      results.map((result) => textAt(result, 'level')),
      ['error', 'warning', 'note'],
    )
    for (const result of results) {
      assert.equal(textAt(rules[Number(at(result, 'ruleIndex'))], 'id'), textAt(result, 'ruleId'))
      const place = at(listAt(result, 'locations')[0], 'physicalLocation')
      assert.equal(textAt(place, 'artifactLocation', 'uri'), 'new.yaml')
      assert.equal(at(place, 'region', 'startLine'), 3)
      assert.match(textAt(result, 'partialFingerprints', 'preflightGroup/v1'), /./)
    }
  })

  test('writes a file name as a relative reference', () => {
    const documents = { base: BASE, head: { ...HEAD, path: 'api v2/a:b#c.yaml' } }
    const [result] = listAt(listAt(log({ documents }), 'runs')[0], 'results')
    const [location] = listAt(result, 'locations')
    assert.equal(textAt(location, 'physicalLocation', 'artifactLocation', 'uri'), 'api%20v2/a%3Ab%23c.yaml')
  })
})

test('a removal whose base is not checked out annotates the head as a whole', () => {
  const placed = { side: 'base', location: '', line: 4, column: 2 } as const
  const base = { ...BASE, name: 'main:old.yaml', isCheckedOut: false }
  assert.deepEqual(annotationOf(placed, { base: BASE, head: HEAD }), {
    path: 'old.yaml',
    position: { line: 4, column: 2 },
  })
  assert.deepEqual(annotationOf(placed, { base, head: HEAD }), { path: 'new.yaml', position: null })
  const nowhere = { name: 'stdin', path: null, isCheckedOut: false }
  assert.deepEqual(annotationOf(placed, { base, head: nowhere }), { path: 'old.yaml', position: null })
  assert.equal(annotationOf(placed, { base: nowhere, head: nowhere }), null)
})

suite('an ignore list', () => {
  const all = ['GET /a', 'GET /b', 'POST /a', 'PUT /a']

  test('takes out the findings of which everything holds that an entry states', () => {
    assert.deepEqual(left({ rule: 'request-property-removed' }), ['GET /a', 'GET /b', 'PUT /a'])
    assert.deepEqual(left({ method: 'get', path: '/b' }), ['GET /a', 'POST /a', 'PUT /a'])
    assert.deepEqual(left({ location: '/paths' }), [])
    assert.deepEqual(left({ location: '/pat' }), all)
    assert.deepEqual(left({ fingerprint: 'fp:endpoint-added:/paths/~1pets:PUT /a' }), ['GET /a', 'GET /b', 'POST /a'])
    assert.deepEqual(left({ rule: 'endpoint-added', method: 'GET' }), all)
    assert.deepEqual(left({ tool: 'search' }), all)
  })

  test('holds up to and on its last day, and names what is stale', () => {
    assert.equal(left({ path: '/b', expires: '2026-01-01' }).length, 3)
    assert.equal(left({ path: '/b', expires: '2026-01-01' }, '2026-01-02').length, 4)
    const { stale } = ignoreFindings(
      fakeComparison(FINDINGS),
      [entry({ path: '/b' }), entry({ path: '/none' }), entry({ path: '/a', expires: '2025-01-01' })],
      '2026-01-01',
    )
    assert.deepEqual(
      stale.map(({ path }) => path),
      ['/none', '/a'],
    )
  })

  test('counts the removed findings by group', () => {
    const { ignored } = ignoreFindings(fakeComparison(FINDINGS), [entry({ path: '/b' })], '2026-01-01')
    assert.deepEqual(
      ignored.map(({ group, fingerprints, reason }) => [group.count, fingerprints.length, reason]),
      [[1, 1, 'known']],
    )
  })

  test('decides what fails the command, and shows in every form', async () => {
    const list = file('ignore.yaml', 'ignore:\n  - path: /b\n    reason: nobody calls it\n')
    const diff = (...more: string[]) => run(['diff', both, one, '--ignore', list, ...more])
    const text = await diff()
    assert.equal(text.code, 0, text.stderr)
    assert.match(text.stdout, /1 finding is ignored\.\n$/)
    assert.equal((await run(['diff', both, one])).code, 1)
    const json: unknown = JSON.parse((await diff('--format', 'json')).stdout)
    assert.equal(at(json, 'summary', 'breaking'), 0)
    assert.equal(textAt(listAt(json, 'ignored')[0], 'reason'), 'nobody calls it')
    assert.deepEqual(listAt(json, 'patterns'), [])
    const skipped = named(elementsOf((await diff('--format', 'junit')).stdout), 'skipped')
    assert.equal(skipped[0]?.attributes['message'], 'ignored: nobody calls it')
    const [runOf] = listAt(JSON.parse((await diff('--format', 'sarif')).stdout), 'runs')
    const suppressed = listAt(runOf, 'results').filter((result) => at(result, 'suppressions') !== undefined)
    assert.equal(textAt(listAt(suppressed[0], 'suppressions')[0], 'justification'), 'nobody calls it')
    assert.match((await diff('--format', 'github')).stdout, /0 breaking.*; 1 ignored\n$/)
  })

  test('that matches nothing is reported with its place', async () => {
    const list = file('stale.yaml', 'ignore:\n  - path: /none\n    reason: typed wrong\n')
    const { code, stderr } = await run(['diff', both, one, '--ignore', list])
    assert.equal(code, 1)
    assert.match(stderr, /stale\.yaml:2:5: the entry matches no finding.*typed wrong/)
  })

  test('that the documentation shows is one', async () => {
    const page = readFileSync(new URL('../../../docs/diff.md', import.meta.url), 'utf8')
    const [, shown = ''] = /^```yaml\n([\s\S]*?)^```/m.exec(page) ?? []
    const { code, stderr } = await run(['diff', both, both, '--ignore', file('shown.yaml', shown)])
    assert.equal(code, 0, stderr)
    assert.match(stderr, /shown\.yaml:2:5[^\n]*access log\)\n[^\n]*shown\.yaml:6:5/)
  })

  test('with mistakes is refused with all of them', async () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ['ignore:\n  - path: /b\n', /:2:5: the member "reason" is missing/],
      ['ignore:\n  - reason: all\n', /:2:5: the entry does not say which findings it ignores/],
      ['ignore:\n  - rule: api-path-removed\n    reason: x\n', /:2:11: there is no rule "api-path-removed"/],
      ['ignore:\n  - pth: /b\n    reason: x\n', /did you mean "?path"?/],
      ['ignore:\n  - path: /b\n    expires: soon\n    reason: x\n', /:3:14: /],
      ['ignore: [', /not valid YAML/],
    ]
    for (const [content, expected] of cases) {
      const { code, stderr } = await run(['diff', both, one, '--ignore', file('bad.yaml', content)])
      assert.equal(code, 2, content)
      assert.match(stderr, expected)
    }
    assert.equal((await run(['diff', both, one, '--ignore', join(directory, 'none.yaml')])).code, 2)
  })
})

function ownedBy(operationId: string): string {
  return contract({ '/a': { get: { ...OPERATION, operationId, 'x-team': 'a' } } })
}

suite('the options of a comparison', () => {
  const removed = 'api-path-removed-without-deprecation'

  test('reach the comparison, each by its flag', async () => {
    const cases: readonly (readonly [readonly string[], number])[] = [
      [['--level', `${removed}=info`], 0],
      [['--level', `${removed}=off`], 0],
      [['--level', `${removed}=dangerous`, '--fail-on', 'dangerous'], 1],
      [['--match-path', '^/a'], 0],
      [['--unmatch-path', '^/b'], 0],
      [['--unmatch-path', '^/c'], 1],
    ]
    for (const [flags, expected] of cases) {
      const { code, stderr } = await run(['diff', both, one, ...flags])
      assert.equal(code, expected, `${flags.join(' ')} ${stderr}`)
    }
  })

  test('strip prefixes, match path parameters by name and hold deprecations to their days', async () => {
    const before = file('old.json', contract({ '/v1/users/{id}': { get: OPERATION } }))
    const after = file('now.json', contract({ '/v2/users/{userId}': { get: OPERATION } }))
    const strip = ['--strip-prefix-base', '/v1', '--strip-prefix-head', '/v2']
    assert.equal((await run(['diff', before, after])).code, 1)
    assert.equal((await run(['diff', before, after, ...strip, '--case-insensitive-headers'])).code, 0)
    assert.equal((await run(['diff', before, after, ...strip, '--include-path-params'])).code, 1)
    const sunset = { ...OPERATION, deprecated: true, 'x-sunset': '2000-01-01' }
    const deprecated = file('deprecated.json', contract({ '/a': { get: sunset } }, '2'))
    const days = (...flags: string[]) => run(['diff', one, deprecated, ...flags])
    assert.match((await days('--deprecation-days-stable', '30')).stdout, /\[api-sunset-date-too-small\]/)
    const beta = (operation: object) => contract({ '/a': { get: { ...operation, 'x-stability-level': 'beta' } } })
    const pair = [file('beta-old.json', beta(OPERATION)), file('beta-now.json', beta(sunset))]
    assert.match(
      (await run(['diff', ...pair, '--deprecation-days-beta', '30'])).stdout,
      /\[api-sunset-date-too-small\]/,
    )
    const removal = [file('beta.json', beta(OPERATION)), file('none.json', contract({}))]
    assert.equal((await run(['diff', ...removal, '--stability-level', 'beta'])).code, 1)
    assert.equal((await run(['diff', ...removal, '--stability-level', 'stable'])).code, 0)
  })

  test('carry extension members of operations into the findings', async () => {
    const pair = [file('owned-old.json', ownedBy('one')), file('owned-now.json', ownedBy('two'))]
    const { stdout } = await run(['diff', ...pair, '--format', 'json', '--attribute', 'x-team', '--attribute', 'x-no'])
    const report: unknown = JSON.parse(stdout)
    assert.deepEqual(at(report, 'findings', 0, 'attributes'), { 'x-team': 'a' })
  })

  test('ask for extension members of operations', async () => {
    const owned = { ...OPERATION, 'x-owner': 'shop', 'x-note': 'n' }
    const pair = [file('owned.json', contract({ '/b': { get: owned }, '/a': { get: OPERATION } })), one]
    const { stdout } = await run(['diff', ...pair, '--format', 'json', '--attribute', 'x-owner'])
    const [finding] = listAt(JSON.parse(stdout), 'findings')
    assert.deepEqual(at(finding, 'attributes'), { 'x-owner': 'shop' })
  })

  test('are refused with what would be right', async () => {
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [['--level', removed], /not RULES=LEVEL with one of breaking, dangerous, info, off/],
      [['--level', `${removed}=severe`], /not RULES=LEVEL/],
      [['--level', 'api-path-removed-without-deprecatio=off'], /did you mean "api-path-removed-without-deprecation"/],
      [['--match-path', '('], /--match-path: The regular expression cannot be used/],
      [['--attribute', 'summary'], /is not an extension member/],
      [['--deprecation-days-stable', '1.5'], /whole number of days/],
      [['--attribute', 'owner'], /not an extension member: their names start with x-/],
      [['--stability-level', 'betta'], /did you mean "beta"/],
    ]
    for (const [flags, expected] of cases) {
      const { code, stderr } = await run(['diff', both, one, ...flags])
      assert.equal(code, 2, flags.join(' '))
      assert.match(stderr, expected)
    }
  })
})

test('a report names files from the working directory', async () => {
  const { stdout } = await run(['diff', both, one, '--format', 'github'])
  const path = relative('.', both)
  assert.ok(stdout.includes(`file=${path.startsWith('..') ? both : path},line=`), stdout)
})

suite('Markdown', () => {
  test('shows a name in backticks as code, and all other text as it is', () => {
    const [message, shown] = [
      'the property `a_b|c` of *all* <b> was added',
      'the property `a_b\\|c` of \\*all\\* \\<b\\> was added',
    ]
    const text = renderReport('markdown', context([{ rule: 'endpoint-added', level: 'info', message }]))
    assert.ok(text.includes(`- ${shown} — `), text)
  })

  for (const command of ['@dependabot merge', '@bors r+', '@dependabot[bot] merge', '@acme/owners please look'])
    for (const around of ['the description changed: {+%+}', 'the tool `%` was added', 'a ` and %', '%'])
      test(`a contract addresses nobody by our comment: ${around.replace('%', command)}`, () => {
        const message = around.replace('%', command)
        const places = [`GET /${command}`]
        const text = renderReport('markdown', context([{ rule: 'endpoint-added', level: 'info', message, places }]))
        assert.ok(!text.includes(command), text)
      })

  test('of very many changes fits into a comment: the worst are listed, the rest is counted', () => {
    const infos = Array.from({ length: 3000 }, (_, index) => ({
      rule: 'endpoint-added',
      level: 'info' as const,
      message: `number ${index} came`,
      places: [`PUT /a/${index}`],
    }))
    const text = renderReport('markdown', context([...infos, ...FINDINGS]))
    assert.ok(text.length < 65_536, String(text.length))
    assert.match(text, /api-path-removed-without-deprecation/)
    assert.match(text, /## Compatible \(3001\)/)
    const shown = [...text.matchAll(/^- /gm)].length
    assert.match(
      text,
      new RegExp(`\\*\\*${3003 - shown} more\\*\\* are left out here \\(${3003 - shown} compatible\\)`),
    )
  })
})
