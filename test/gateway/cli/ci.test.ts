/** `preflight ci` in a pipeline: what it compares, its exit codes, and what it reports to the platform. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { parse } from 'yaml'
import { startApi } from '../../fakes/api.ts'
import { PETS_WITH_POST, PETS_WITHOUT_DELETE } from '../../fakes/contracts.ts'
import { checkout, ci, COMMAND, PLATFORMS, startForum, type Checkout } from '../../fakes/pipeline.ts'
import { runProgram } from '../../fakes/programs.ts'
import { at, listAt, textAt } from '../../json.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')

test('contracts of a branch are compared with where it parted, and the policy gives the exit code', async (t) => {
  const broken = checkout(t, { 'api/pets.yaml': PETS_WITHOUT_DELETE, 'README.md': 'other' })
  const files = ['--sarif', 'o.sarif', '--junit', 'o.xml', '--markdown', 'o.md', '--code-quality', 'o.json']
  const { code, stdout, stderr } = await ci(broken, ['--base', 'main', ...files])
  assert.equal(code, 1, stderr)
  assert.match(stdout, /^api\/pets\.yaml\n1 breaking/)
  const sarif: unknown = JSON.parse(readFileSync(join(broken.folder, 'o.sarif'), 'utf8'))
  assert.ok(listAt(sarif, 'runs', 0, 'results').length > 0)
  assert.match(
    readFileSync(join(broken.folder, 'o.xml'), 'utf8'),
    /<testsuites name="preflight ci">\n<testsuite .*failures="1"/,
  )
  assert.match(readFileSync(join(broken.folder, 'o.md'), 'utf8'), /## Contract changes: BLOCK/)
  const quality: unknown = JSON.parse(readFileSync(join(broken.folder, 'o.json'), 'utf8'))
  const rows = listAt(quality)
  assert.ok(rows.some((row) => at(row, 'severity') === 'critical'))
  for (const row of rows) {
    assert.match(textAt(row, 'fingerprint'), /^[0-9a-f]{64}$/)
    assert.ok(textAt(row, 'description') !== '' && textAt(row, 'check_name') !== '')
    assert.deepEqual(
      [at(row, 'location', 'path'), typeof at(row, 'location', 'lines', 'begin')],
      ['api/pets.yaml', 'number'],
    )
  }
  assert.equal(new Set(rows.map((row) => at(row, 'fingerprint'))).size, rows.length)
  const good = checkout(t, { 'api/pets.yaml': PETS_WITH_POST, 'schema.graphql': 'type Query { pet: String }' })
  assert.equal((await ci(good, ['--base', 'main'])).code, 0)
  const none = await ci(checkout(t, { 'README.md': 'other' }), ['--base', 'main'])
  assert.deepEqual([none.code, none.stdout], [0, 'no contract changed\n'])
})

test('a base that is not there is a mistake, and a contract that cannot be read is not a pass', async (t) => {
  const unread = checkout(t, { 'api/pets.yaml': 'openapi: 3.1.0\npaths: [' })
  assert.equal((await ci(unread, ['--base', 'main'])).code, 3)
  const missing = await ci(unread, ['--base', 'origin/main'])
  assert.equal(missing.code, 2)
  assert.match(missing.stderr, /knows no commit "origin\/main"; fetch it first/)
  assert.match((await ci(unread, [])).stderr, /there is no pull request here; name the base/)
})

for (const [name, environment] of Object.entries(PLATFORMS))
  test(`${name}: comments once, updates the comment, and sets the status of the commit`, async (t) => {
    const place = checkout(t, { 'api/pets.yaml': PETS_WITHOUT_DELETE })
    const forum = await startForum(t)
    const env = environment(forum.origin, place)
    for (let run = 0; run < 2; run += 1) {
      const { code, stderr } = await ci(place, ['--comment', '--status'], env)
      assert.equal(code, 1, stderr)
    }
    assert.equal(forum.comments.length, 1)
    assert.match(JSON.stringify(forum.comments[0]), /Contract changes: BLOCK/)
    assert.equal(forum.statuses.length, 2)
    assert.ok(forum.statuses[0]?.url.includes(place.head))
    assert.match(JSON.stringify(forum.statuses[0]?.body), /preflight\/contracts/)
  })

test('a platform that takes no comment does not change the result', async (t) => {
  const place = checkout(t, { 'api/pets.yaml': PETS_WITH_POST })
  const { code, stderr } = await ci(place, ['--comment'], PLATFORMS['gitlab']?.('http://127.0.0.1:9', place))
  assert.equal(code, 0)
  assert.match(stderr, /not published/)
})

/** The steps of action.yml, as a runner executes them: expressions replaced, one shell for each. */
async function runAction(
  t: TestContext,
  place: Checkout,
  inputs: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
) {
  const action: unknown = parse(readFileSync(join(ROOT, 'action.yml'), 'utf8'))
  const temporary = mkdtempSync(join(tmpdir(), 'preflight-runner-'))
  t.after(() => rmSync(temporary, { recursive: true, force: true }))
  const outputs: Record<string, Record<string, string>> = {}
  const valueOf = (expression: string): string => {
    const [scope = '', name = '', , last = ''] = expression.trim().split('.')
    if (scope === 'inputs') return inputs[name] ?? String(at(action, 'inputs', name, 'default'))
    return scope === 'steps' ? (outputs[name]?.[last] ?? '') : 'token'
  }
  let code = 0
  let stdout = ''
  for (const step of listAt(action, 'runs', 'steps')) {
    const file = join(temporary, textAt(step, 'id'))
    writeFileSync(file, '')
    const own = Object.entries<unknown>(Object(at(step, 'env'))).map(([name, value]): readonly [string, string] => [
      name,
      String(value).replaceAll(/\$\{\{(.*?)\}\}/g, (_, expression: string) => valueOf(expression)),
    ])
    const done = await runProgram('bash', ['-c', `cd "$FOLDER"\n${textAt(step, 'run')}`], {
      FOLDER: place.folder,
      HOME: temporary,
      RUNNER_TEMP: temporary,
      ...env,
      GITHUB_OUTPUT: file,
      ...Object.fromEntries(own),
    })
    code = done.code
    stdout += done.stdout + done.stderr
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
    outputs[textAt(step, 'id')] = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    )
    if (code !== 0) break
  }
  return { code, stdout, outputs: outputs['compare'] ?? {} }
}

test('the steps of the GitHub Action compare, annotate and write their outputs', async (t) => {
  const place = checkout(t, { 'api/pets.yaml': PETS_WITHOUT_DELETE })
  const forum = await startForum(t)
  const env = PLATFORMS['github']?.(forum.origin, place) ?? {}
  const summary = join(place.folder, '.git', 'summary.md')
  const { code, stdout, outputs } = await runAction(
    t,
    place,
    { command: COMMAND },
    { ...env, GITHUB_STEP_SUMMARY: summary },
  )
  assert.equal(code, 1, stdout)
  assert.match(stdout, /^::error file=api\/pets\.yaml,/m)
  assert.match(readFileSync(summary, 'utf8'), /Contract changes: BLOCK/)
  assert.match(readFileSync(outputs['sarif'] ?? '', 'utf8'), /"runs"/)
})

test('the action gets a receipt for the merge from a gateway, comments and sets the status of the commit', async (t) => {
  const api = await startApi()
  t.after(() => api.close())
  const place = checkout(t, { 'api/pets.yaml': PETS_WITH_POST })
  const forum = await startForum(t)
  const env = PLATFORMS['github']?.(forum.origin, place) ?? {}
  const inputs = { command: COMMAND, authorize: 'true', status: 'true', url: api.url, 'api-key': api.key }
  const { code, stdout, outputs } = await runAction(t, place, inputs, env)
  assert.equal(code, 0, stdout)
  assert.match(stdout, /merge: CONTINUE/)
  assert.match(JSON.stringify(forum.comments), /Merge, decided by the gateway/)
  assert.match(JSON.stringify(forum.statuses), /"state":"success".*preflight\/contracts/)
  const token = readFileSync(outputs['receipt'] ?? '', 'utf8').trim()
  const context = { operation: 'merge', repository: 'acme/pets', branch: 'feature', pull_request: '7' }
  const { body } = await api.post('/api/v1/verify-receipt', { token, context })
  assert.equal(at(body, 'currently_authorized'), true)
  const { body: ledger } = await api.get('/api/v1/ledger?repository=acme/pets')
  assert.equal(listAt(ledger, 'entries').length, 1)
})

test('a folder that git does not read is named as such, and not a missing commit', async (t) => {
  const place = checkout(t, { 'api/pets.yaml': PETS_WITH_POST })
  const none = mkdtempSync(join(tmpdir(), 'preflight-none-'))
  t.after(() => rmSync(none, { recursive: true, force: true }))
  const outside = await ci({ ...place, folder: none }, ['--base', 'main'])
  assert.equal(outside.code, 2)
  assert.match(outside.stderr, /the folder \S+ is not a git repository, nor is it in one; use a clone/)
  if (process.getuid?.() !== 0) return
  execFileSync('chown', ['-R', '12345', place.folder])
  const foreign = await ci(place, ['--base', 'main'])
  assert.equal(foreign.code, 2)
  assert.match(foreign.stderr, /the folder \S+ belongs to another user; run preflight as its owner/)
})
