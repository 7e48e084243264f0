/** `preflight diff` and other commands in this process: output, exit codes, and where documents come from. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { SHIPPED_PACKS } from '../../../gateway/config/policy.ts'
import { openKeyRing } from '../../../gateway/keys/key-ring.ts'
import { run } from '../../fakes/command-io.ts'
import { decideOn, issueOn } from '../../fakes/decisions.ts'
import type { FakeKey } from '../../fakes/keys.ts'

const directory = mkdtempSync(join(tmpdir(), 'preflight-cli-'))
after(() => rmSync(directory, { recursive: true, force: true }))

function file(name: string, content: string): string {
  const path = join(directory, name)
  writeFileSync(path, content)
  return path
}

function contract(paths: object, rest: object = {}): string {
  return JSON.stringify({ openapi: '3.0.3', info: { title: 't', version: '1' }, paths, ...rest })
}

const OPERATION = { responses: { 200: { description: 'ok' } } }
mkdirSync(join(directory, 'empty'))
const both = file('both.json', contract({ '/a': { get: OPERATION }, '/b': { get: OPERATION } }))
const one = file('one.json', contract({ '/a': { get: OPERATION } }))

test('an empty side is a contract that is not there, and the command says so', async () => {
  const added = await run(['diff', '-', one])
  assert.equal(added.code, 0)
  assert.match(added.stderr, /BASE is empty, so the whole contract counts as added/)
  const removed = await run(['diff', one, '-'])
  assert.equal(removed.code, 1)
  assert.match(removed.stderr, /HEAD is empty, so the whole contract counts as removed/)
  assert.equal((await run(['diff', one, one])).stderr, '')
})

test('a side may be the output of another command of the shell', () => {
  const command = fileURLToPath(new URL('../../../gateway/preflight.js', import.meta.url))
  const line = `"$0" "$1" diff <(cat "$2") <(cat "$3") --format json`
  const shell = spawnSync('bash', ['-c', line, process.execPath, command, both, one], { encoding: 'utf8' })
  assert.equal(shell.status, 1, shell.stderr)
  assert.match(shell.stdout, /api-path-removed-without-deprecation/)
})

test('a removed operation is found, shown with place, reason and fix, and fails the command', async () => {
  const { code, stdout } = await run(['diff', both, one])
  assert.equal(code, 1)
  assert.match(stdout, /BREAKING \(1\)/)
  assert.match(stdout, /both\.json:1:\d+ .*\[api-path-removed-without-deprecation\]/)
  assert.match(stdout, /why  .*\n\s+fix  .*\n\s+reaches GET \/b\n/)
  assert.equal((await run(['diff', both, one, '--fail-on', 'none'])).code, 0)
  assert.equal((await run(['diff', one, both, '--fail-on', 'dangerous'])).code, 0)
})

test('advice that the next change of the same kind shares is printed once', async () => {
  const none = file('none.json', contract({}))
  const { stdout } = await run(['diff', both, none])
  assert.match(stdout, /^BREAKING \(2\)$/m)
  assert.equal(stdout.match(/^ {6}why {2}/gm)?.length, 1, stdout)
  assert.equal(stdout.match(/^ {6}reaches /gm)?.length, 2)
})

test('the same pair has a json and a markdown form', async () => {
  const json = await run(['diff', both, one, '--format', 'json'])
  const report: { summary: object; findings: { rule: string }[]; truncated: number } = JSON.parse(json.stdout)
  assert.deepEqual(report.summary, {
    breaking: 1,
    dangerous: 0,
    info: 0,
    decision_hint: 'BLOCK',
    semver: 'major',
    analysis_complete: true,
  })
  assert.equal(report.findings[0]?.rule, 'api-path-removed-without-deprecation')
  assert.equal(report.truncated, 0)
  const markdown = await run(['diff', both, one, '--format', 'markdown'])
  assert.match(markdown.stdout, /^# Contract comparison\n\n\*\*1\*\* breaking/)
})

test('colour is for a terminal whose user did not decline it', async () => {
  const escape = '\u001B['
  assert.ok((await run(['diff', both, one], { isTerminal: true })).stdout.includes(escape))
  assert.ok(!(await run(['diff', both, one])).stdout.includes(escape))
  const declined = await run(['diff', both, one], { isTerminal: true, environment: { NO_COLOR: '1' } })
  assert.ok(!declined.stdout.includes(escape))
})

test('text of a contract cannot move the cursor of the terminal or become markup', async () => {
  const hostile = contract({ '/a': { get: OPERATION }, '/\u001B[2J\u202Eevil|<b>`x': { get: OPERATION } })
  const path = file('hostile.json', hostile)
  const text = await run(['diff', path, one])
  assert.ok(!text.stdout.includes('\u001B') && !text.stdout.includes('\u202E'))
  assert.ok(text.stdout.includes('\\u{1b}'))
  const markdown = await run(['diff', path, one, '--format', 'markdown'])
  assert.ok(!markdown.stdout.includes('\u001B'))
  // The backtick inside makes the fence of the code span two long, so the tag stays text.
  assert.match(markdown.stdout, /``[^\n]*<b>`x``/)
})

test('an unreadable document is reported with its place, with an exit code other than that of a block', async () => {
  const { code, stderr } = await run(['diff', file('broken.json', '{"openapi": "3.0.3",'), one, '--type', 'openapi'])
  assert.equal(code, 2)
  assert.match(stderr, /line 1/)
})

test('one side may come from standard input', async () => {
  assert.equal((await run(['diff', '-', one], { stdin: contract({}) })).code, 0)
})

function withBody(name: string): string {
  const content = { 'application/json': { schema: { $ref: name } } }
  return contract({ '/a': { get: { responses: { 200: { description: 'ok', content } } } } })
}

function schema(properties: object): string {
  return JSON.stringify({ type: 'object', required: ['id'], properties })
}

test('files that a document refers to are read beside it, and none outside of it', async () => {
  const folder = join(directory, 'multi')
  mkdirSync(join(folder, 'parts'), { recursive: true })
  file('multi/parts/old.json', schema({ id: { $ref: './id.json' } }))
  file('multi/parts/new.json', schema({ id: { type: 'integer' } }))
  file('multi/parts/id.json', '{"type":"string"}')
  const before = file('multi/before.json', withBody('parts/old.json'))
  const changed = await run(['diff', before, file('multi/after.json', withBody('parts/new.json'))])
  assert.equal(changed.code, 1, changed.stderr)
  assert.match(changed.stdout, /type/)
  const same = await run(['diff', before, before])
  assert.equal(same.code, 0, same.stderr)
  const outside = await run(['diff', file('multi/out.json', withBody('../../../../../../etc/passwd')), before])
  assert.equal(outside.code, 2)
  assert.match(outside.stderr, /outside its folder/)
})

test('a side may be a file of a git commit', () => {
  const repository = join(directory, 'repository')
  mkdirSync(repository)
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: repository, stdio: 'pipe' })
  git('init', '-q')
  writeFileSync(join(repository, 'api.json'), contract({ '/a': { get: OPERATION } }))
  git('add', '.')
  git('commit', '-qm', 'first')
  writeFileSync(join(repository, 'api.json'), contract({}))
  const command = fileURLToPath(new URL('../../../gateway/preflight.js', import.meta.url))
  assert.throws(
    () =>
      execFileSync(process.execPath, [command, 'diff', 'HEAD:api.json', 'api.json'], {
        cwd: repository,
        stdio: 'pipe',
      }),
    (error: { status?: number; stdout?: Buffer }) => error.status === 1 && /BREAKING/.test(String(error.stdout)),
  )
})

test('a receipt is verified offline: 0 for its operation, 1 for another, 2 without keys', async () => {
  const now = Math.floor(Date.now() / 1000)
  const { token, envelope, key } = issueOn(decideOn([]), undefined, now)
  const keys = file('jwks.json', JSON.stringify({ keys: [publicJwk(key)] }))
  const decision = file('envelope.json', JSON.stringify({ decision_result: envelope }))
  const good = await run(['verify', token, '--keys', keys, '--envelope', decision, '--operation', 'merge'])
  assert.equal(good.code, 0, good.stdout)
  assert.match(good.stdout, /^AUTHORIZED: VERIFIED_CURRENT/)
  assert.match(good.stdout, /offline/)
  const other = await run(['verify', '-', '--keys', keys, '--operation', 'deploy'], { stdin: `${token}\n` })
  assert.equal(other.code, 1)
  assert.match(other.stdout, /^NOT AUTHORIZED: VERIFIED_SCOPE_MISMATCH \(operation_mismatch\)/)
  assert.equal((await run(['verify', token, '--keys', keys])).code, 1)
  const changed = file('changed.json', JSON.stringify({ ...envelope, risk_score: 99 }))
  const forged = await run([
    'verify',
    token,
    '--keys',
    keys,
    '--envelope',
    changed,
    '--operation',
    'merge',
    '--format',
    'json',
  ])
  assert.equal(forged.code, 1)
  assert.equal(JSON.parse(forged.stdout).reason, 'body_hash_mismatch')
  assert.equal((await run(['verify', token, '--keys', join(directory, 'none.json')])).code, 2)
})

test('API keys are made, listed without the key, and revoked', async () => {
  const data = ['--data-dir', join(directory, 'keys')]
  const made = await run(['keys', 'create', '--name', 'ci', '--role', 'approver', '--test', ...data])
  assert.equal(made.code, 0, made.stderr)
  assert.match(made.stdout, /^pf_test_\S{43}\n$/)
  const listed: { audience: string; role: string; revoked_at: string | null }[] = JSON.parse(
    (await run(['keys', 'list', '--format', 'json', ...data])).stdout,
  )
  assert.equal(listed[0]?.role, 'approver')
  assert.equal((await run(['keys', 'revoke', listed[0].audience, ...data])).code, 0)
  assert.match((await run(['keys', 'list', ...data])).stdout, /\d{4}-.*\d{4}-/)
  assert.equal((await run(['keys', 'revoke', 'v:000000000000', ...data])).code, 1)
  assert.match(
    (await run(['keys', 'create', '--name', 'x', '--plan', 'gold', ...data])).stderr,
    /plans: free, pro, enterprise/,
  )
})

test('receipt keys are shown, rotated, retired and revoked', async () => {
  await openKeyRing(join(directory, 'receipt-keys'))
  const data = ['--data-dir', join(directory, 'receipt-keys')]
  const statuses = async (): Promise<readonly string[]> => {
    const set: { keys: { status: string }[] } = JSON.parse(
      (await run(['keys', 'show', '--format', 'json', ...data])).stdout,
    )
    return set.keys.map(({ status }) => status)
  }
  // The second one stands by.
  assert.deepEqual(await statuses(), ['active', 'active'])
  const rotated = await run(['keys', 'rotate', '--overlap', '0', ...data])
  assert.equal(rotated.code, 0)
  assert.deepEqual(await statuses(), ['retired', 'active', 'active'])
  const revoked = await run(['keys', 'revoke', rotated.stdout.trim(), ...data])
  assert.equal(revoked.code, 0)
  assert.match(revoked.stdout, /revoked \S+; \S+ signs now \(published before\)/)
  assert.deepEqual(await statuses(), ['retired', 'active', 'revoked', 'active'])
  assert.equal((await run(['keys', 'retire', rotated.stdout.trim(), ...data])).code, 1)
})

test('an empty data directory is reported, and stays empty', async () => {
  const missing = join(directory, 'mistyped')
  for (const words of [
    'keys list',
    'keys show',
    'keys rotate',
    'keys revoke v:000000000000',
    'ledger list',
    'ledger calls',
    'ledger verify-chain',
  ]) {
    const { code, stderr } = await run([...words.split(' '), '--data-dir', missing])
    assert.equal(code, 2, words)
    assert.match(stderr, /there are no .* at .*mistyped.*--data-dir/)
  }
  assert.ok(!existsSync(missing))
})

test('a policy pack is checked with line and column', async () => {
  assert.equal((await run(['policy', 'lint', 'default'])).code, 0)
  const broken = file('pack.yaml', 'apiVersion: preflight.dev/v1\nkind: Polcy\nmetadata: { name: x }\nrules: []\n')
  const { code, stdout } = await run(['policy', 'lint', broken])
  assert.equal(code, 1)
  assert.match(stdout, /pack\.yaml:2:7: /)
})

test('the cases of a policy pack are run, and one that fails says what was wanted and what came', async () => {
  for (const name of SHIPPED_PACKS) {
    const { code, stdout } = await run(['policy', 'test', name])
    assert.equal(code, 0, stdout)
    assert.match(stdout, /[1-9]\d* passed, 0 failed\n$/)
  }
  const cases = file(
    'cases.yaml',
    [
      'cases:',
      '  - description: a break is allowed',
      '    findings: [{ rule: x-removed, level: breaking, operation: GET /a }]',
      '    context: { operation: merge }',
      '    want: { decision: ALLOW }',
    ].join('\n'),
  )
  const failed = await run(['policy', 'test', 'default', '--cases', cases])
  assert.equal(failed.code, 1)
  assert.match(failed.stdout, /✗ a break is allowed\n\s+decision: want ALLOW, got BLOCK\n0 passed, 1 failed/)
  const malformed = await run([
    'policy',
    'test',
    'default',
    '--cases',
    file('bad-cases.yaml', 'cases:\n  - want: {}\n'),
  ])
  assert.equal(malformed.code, 1)
  assert.match(malformed.stdout, /bad-cases\.yaml:2:5: the member "description" is missing/)
})

test('a configuration with mistakes stops any command that needs it, with all of them', async () => {
  const { code, stderr } = await run(['keys', 'list', '--config', file('bad.yaml', 'tier: x\npolcy: y\n')])
  assert.equal(code, 2)
  assert.match(stderr, /2 mistakes[\s\S]*bad\.yaml:1:7[\s\S]*bad\.yaml:2:1/)
})

test('a change is analyzed locally without a gateway, and a receipt cannot be had that way', async () => {
  const analyzed = await run(['preflight', both, one, '--mode', 'analyze', '--local', '--format', 'json'])
  assert.equal(analyzed.code, 1, analyzed.stderr)
  const answer: Record<string, unknown> = JSON.parse(analyzed.stdout)
  assert.equal(answer['analysis_outcome'], 'BREAKS_DETECTED')
  assert.equal(answer['may_execute'], false)
  assert.ok(!('decision' in answer))
  assert.equal((await run(['preflight', one, both, '--mode', 'analyze', '--local'])).code, 0)
  assert.equal((await run(['preflight', both, one, '--mode', 'authorize', '--operation', 'merge', '--local'])).code, 2)
  assert.equal((await run(['preflight', both, one])).code, 2)
  assert.equal((await run(['preflight', both, one, '--mode', 'authorize'])).code, 2)
})

test('a gateway is asked with the key of the environment; its errors are no decision', async (t) => {
  const seen: { authorization: string | undefined; body: unknown }[] = []
  const answers = [
    { status: 200, body: { execution_action: 'CONTINUE', decision: 'ALLOW', chain_receipt: 'token' } },
    { status: 200, body: { execution_action: 'SOMETHING_NEW', decision: 'ALLOW' } },
    {
      status: 503,
      body: { error: 'STORE_UNAVAILABLE', message: 'not now', details: [{ pointer: '/x', message: 'y' }] },
    },
  ]
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      seen.push({ authorization: request.headers.authorization, body: JSON.parse(text) })
      const { status, body } = answers.shift() ?? { status: 500, body: {} }
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const environment = { PREFLIGHT_API_KEY: 'k'.repeat(24), PREFLIGHT_URL: `http://127.0.0.1:${port}` }
  const argv = ['preflight', both, one, '--mode', 'authorize', '--operation', 'merge', '--target-id', 't']
  const receipt = join(directory, 'receipt')
  assert.equal((await run([...argv, '--receipt', receipt], { environment })).code, 0)
  assert.equal(seen[0]?.authorization, `Bearer ${'k'.repeat(24)}`)
  assert.deepEqual(seen[0].body, {
    preflight_mode: 'authorize',
    artifacts: [
      {
        id: 'one.json',
        type: 'openapi',
        before: contract({ '/a': { get: OPERATION }, '/b': { get: OPERATION } }),
        after: contract({ '/a': { get: OPERATION } }),
      },
    ],
    context: { operation: 'merge', target_id: 't' },
  })
  assert.equal((await run(argv, { environment })).code, 3, 'an unknown action is not a permission')
  const failed = await run(argv, { environment })
  assert.equal(failed.code, 3)
  assert.match(failed.stderr, /503: STORE_UNAVAILABLE: not now\n\s+\/x: y/)
  assert.equal((await run(argv)).code, 2, 'without a key')
  const nobody = await run([...argv, '--url', 'http://127.0.0.1:1'], { environment })
  assert.equal(nobody.code, 3)
  assert.match(nobody.stderr, /no gateway answers/)
})

function publicJwk({ signer, publicKey }: FakeKey): object {
  return { ...publicKey.export({ format: 'jwk' }), kid: signer.keyId }
}
