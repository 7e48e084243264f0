import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { parse } from 'yaml'
import { startApi } from '../fakes/api.ts'
import { PETS, PETS_WITH_POST, PETS_WITHOUT_DELETE } from '../fakes/contracts.ts'
import { PREFLIGHT } from '../fakes/desk.ts'
import { listening } from '../fakes/listening.ts'
import { runProgram } from '../fakes/programs.ts'
import { at, listAt, textAt } from '../json.ts'

const ROOT = join(import.meta.dirname, '..', '..')

interface Checkout {
  readonly folder: string
  readonly base: string
  readonly head: string
}

/** A real repository with two branches; `main` goes on after they parted. */
function checkout(t: TestContext, changed: Readonly<Record<string, string | null>>): Checkout {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-ci-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
      cwd: folder,
      encoding: 'utf8',
    })
  const put = (files: Readonly<Record<string, string | null>>, message: string): string => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      if (text === null) rmSync(join(folder, path))
      else writeFileSync(join(folder, path), text)
    }
    git('add', '-A')
    git('commit', '-qm', message)
    return git('rev-parse', 'HEAD').trim()
  }
  git('init', '-q', '-b', 'main')
  put({ 'api/pets.yaml': PETS, 'README.md': 'pets', 'src/main.ts': 'one' }, 'first')
  git('checkout', '-qb', 'feature')
  const head = put(changed, 'change')
  git('checkout', '-q', 'main')
  const base = put({ 'src/main.ts': 'two' }, 'main goes on')
  git('checkout', '-q', 'feature')
  return { folder, base, head }
}

const COMMAND = `${process.execPath} --disable-warning=ExperimentalWarning ${PREFLIGHT}`

async function ci({ folder }: Checkout, argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const script = `cd "$FOLDER" && ${COMMAND} ci "$@"`
  return runProgram('bash', ['-c', script, 'bash', ...argv], { FOLDER: folder, HOME: folder, ...env })
}

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

test('a base that is not there is a mistake, and a contract that cannot be read is no pass', async (t) => {
  const unread = checkout(t, { 'api/pets.yaml': 'openapi: 3.1.0\npaths: [' })
  assert.equal((await ci(unread, ['--base', 'main'])).code, 3)
  const missing = await ci(unread, ['--base', 'origin/main'])
  assert.equal(missing.code, 2)
  assert.match(missing.stderr, /knows no commit "origin\/main"; fetch it first/)
  assert.match((await ci(unread, [])).stderr, /there is no pull request here; name the base/)
})

/** A platform that keeps comments and statuses, in the forms of all three. */
async function startForum(t: TestContext) {
  const comments: Record<string, unknown>[] = []
  const statuses: { readonly url: string; readonly body: unknown }[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')))
    request.on('end', () => {
      const { method = '', url = '' } = request
      const body: Record<string, unknown> = text === '' ? {} : JSON.parse(text)
      if (url.includes('/statuses/')) {
        statuses.push({ url, body })
      } else if (method === 'POST') comments.push({ id: comments.length + 1, ...body })
      else if (method !== 'GET') Object.assign(comments[Number(url.split('/').at(-1)) - 1] ?? {}, body)
      const listed = url.includes('/repositories/') ? { values: comments } : comments
      response.end(JSON.stringify(method === 'GET' ? listed : {}))
    })
  })
  return { origin: await listening(t, server), comments, statuses }
}

const PLATFORMS: Readonly<Record<string, (origin: string, place: Checkout) => Readonly<Record<string, string>>>> = {
  github: (origin, { folder, base, head }) => {
    const event = { pull_request: { number: 7, head: { sha: head, ref: 'feature' }, base: { sha: base, ref: 'main' } } }
    writeFileSync(join(folder, '.git', 'event.json'), JSON.stringify(event))
    return {
      GITHUB_ACTIONS: 'true',
      GITHUB_REPOSITORY: 'acme/pets',
      GITHUB_TOKEN: 'token',
      GITHUB_API_URL: origin,
      GITHUB_EVENT_PATH: join(folder, '.git', 'event.json'),
    }
  },
  gitlab: (origin, { base, head }) => ({
    GITLAB_CI: 'true',
    CI_API_V4_URL: origin,
    CI_PROJECT_ID: '5',
    CI_PROJECT_PATH: 'acme/pets',
    GITLAB_TOKEN: 'token',
    CI_MERGE_REQUEST_IID: '7',
    CI_MERGE_REQUEST_DIFF_BASE_SHA: base,
    CI_COMMIT_SHA: head,
  }),
  bitbucket: (origin, { base, head }) => ({
    BITBUCKET_BUILD_NUMBER: '1',
    BITBUCKET_API_URL: origin,
    BITBUCKET_REPO_FULL_NAME: 'acme/pets',
    BITBUCKET_TOKEN: 'token',
    BITBUCKET_PR_ID: '7',
    BITBUCKET_PR_DESTINATION_COMMIT: base,
    BITBUCKET_COMMIT: head,
  }),
}

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

test('the action gets a receipt for the merge from a gateway', async (t) => {
  const api = await startApi()
  t.after(() => api.close())
  const place = checkout(t, { 'api/pets.yaml': PETS_WITH_POST })
  const env = PLATFORMS['github']?.('http://127.0.0.1:9', place) ?? {}
  // Asynchronous: the gateway is in this process.
  const argv = ['--authorize', '--receipt', 'receipt.jwt']
  const { code, stdout, stderr } = await ci(place, argv, { ...env, PREFLIGHT_URL: api.url, PREFLIGHT_API_KEY: api.key })
  assert.equal(code, 0, stderr)
  assert.match(stdout, /merge: CONTINUE/)
  const token = readFileSync(join(place.folder, 'receipt.jwt'), 'utf8').trim()
  const context = { operation: 'merge', repository: 'acme/pets', branch: 'feature', pull_request: '7' }
  const { body } = await api.post('/api/v1/verify-receipt', { token, context })
  assert.equal(at(body, 'currently_authorized'), true)
  const { body: ledger } = await api.get('/api/v1/ledger?repository=acme/pets')
  assert.equal(listAt(ledger, 'entries').length, 1)
})

test('the files for GitLab, Bitbucket and pre-commit call the command with options that it has', async () => {
  const names = [
    'integrations/gitlab-component.yml',
    'integrations/bitbucket-pipe.yml',
    '.pre-commit-hooks.yaml',
    'action.yml',
  ]
  const { ciCommand } = await import('../../gateway/cli/ci.ts')
  const known = new Set(ciCommand.options.map(({ name }) => name))
  for (const name of names) {
    const text = readFileSync(join(ROOT, name), 'utf8')
    const lines = text.split('\n').filter((line) => /\bci --|args\+?=\(/.test(line))
    const used = lines.flatMap((line) =>
      [...line.matchAll(/ --([a-z-]+)|\(--([a-z-]+)/g)].map(([, a, b]) => a ?? b ?? ''),
    )
    assert.deepEqual(
      used.filter((option) => !known.has(option) && option !== 'yes'),
      [],
      name,
    )
    assert.ok(lines.length > 0, name)
    for (const document of text.split(/^---$/m)) parse(document.replaceAll('$[[', '$((').replaceAll(']]', '))'))
  }
})
