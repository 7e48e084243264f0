/** `git push` over HTTP through the proxy, as raw requests and as git sends it: no bypass of a judged merge. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { startHttpUpstream } from '../../fakes/http-upstream.ts'
import { startProxy, type ProxyUnderTest } from '../../fakes/proxy-under-test.ts'

const run = promisify(execFile)
const PATH = '/acme/pets.git/git-receive-pack'
const ZERO = '0'.repeat(40)
const ONE = '1'.repeat(40)

function line(text: string): string {
  return (text.length + 4).toString(16).padStart(4, '0') + text
}

function commands(...refs: readonly string[]): string {
  const lines = refs.map((ref, index) =>
    line(`${ZERO} ${ONE} ${ref}${index === 0 ? '\0report-status agent=git/2' : ''}`),
  )
  return `${lines.join('')}0000PACK`
}

/** A push with options behind its commands. */
function optioned(options: readonly string[], ...refs: readonly string[]): string {
  return commands(...refs).replace(/PACK$/, `${options.map(line).join('')}0000PACK`)
}

async function scene(t: TestContext, push?: string, mode = 'enforce') {
  const upstream = await startHttpUpstream((_request, response) => response.end('pushed'))
  const scm = push === undefined ? {} : { push }
  const route = { name: 'git', match: { path: '/' }, upstream: upstream.origin, protocol: 'github', scm, mode }
  const proxy = await startProxy({ routes: [route] })
  t.after(async () => {
    await proxy.close()
    await upstream.close()
  })
  return { upstream, proxy }
}

function send(proxy: ProxyUnderTest, body: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(proxy.url + PATH, {
    method: 'POST',
    headers: { 'content-type': 'application/x-git-receive-pack-request', ...headers },
    body,
  })
}

test('a route that observes lets every push on, and says which it would have stopped', async (t) => {
  const { upstream, proxy } = await scene(t, undefined, 'observe')
  for (const body of [commands('refs/heads/main'), 'zzzz', commands('refs/heads/feature')])
    assert.equal((await send(proxy, body)).status, 200)
  assert.equal(upstream.requests.length, 3)
  assert.match(await proxy.metrics.text(), /preflight_observed_calls_total\{route="git",would="stopped"\} 2/)
})

const CASES: readonly (readonly [push: string | undefined, name: string, body: string, status: number])[] = [
  [undefined, 'a protected branch', commands('refs/heads/main'), 403],
  [undefined, 'a protected branch among others', commands('refs/heads/feature', 'refs/heads/release/1'), 403],
  [undefined, 'another branch and a tag', commands('refs/heads/feature', 'refs/tags/v1'), 200],
  [undefined, 'nothing yet, to learn who may', '0000', 200],
  [undefined, 'commands that are none', 'zzzz', 403],
  [undefined, 'commands that do not end', commands('refs/heads/feature').slice(0, -8), 403],
  ...['create', 'target=main', 'title=x', 'description=fine', 'label=a', 'draft'].map(
    (option) =>
      [
        undefined,
        `a request by option ${option}`,
        optioned([`merge_request.${option}`], 'refs/heads/feature'),
        200,
      ] as const,
  ),
  ...[
    'merge_request.merge_when_pipeline_succeeds',
    'merge_request.auto_merge',
    'mr.auto_merge',
    'merge_request.auto_merge=true',
    'merge_request.auto_merge\n',
    'merge_request.description=/merge',
    'merge_request.description="fine\\n/ship"',
    'merge_request.description=/approve',
    'merge_request.description=atlantis apply',
    'submit',
    'secret_push_protection.skip_all',
    'MERGE_REQUEST.AUTO_MERGE',
  ].flatMap(
    (option) =>
      [
        [undefined, `the option ${option}`, optioned(['merge_request.create', option], 'refs/heads/feature'), 403],
        ['receipt', `the option ${option}, without a receipt`, optioned([option], 'refs/heads/feature'), 403],
        ['receipt', `the option ${option} with a tag`, optioned([option], 'refs/tags/v1'), 403],
      ] as const,
  ),
  [undefined, 'no options', optioned([], 'refs/heads/feature'), 200],
  [undefined, 'something else than options', commands('refs/heads/feature').replace('PACK', 'zzzz'), 403],
  [undefined, 'options that do not end', commands('refs/heads/feature').replace('PACK', line('ci.skip')), 403],
  [undefined, 'something behind the options', optioned(['ci.skip'], 'refs/heads/feature').replace('PACK', 'zzzz'), 403],
  ['pass', 'a protected branch', commands('refs/heads/main'), 200],
  ['receipt', 'a protected branch, without a receipt', commands('refs/heads/main'), 403],
  ['receipt', 'another branch', commands('refs/heads/feature'), 200],
]

for (const [push, name, body, status] of CASES) {
  test(`push ${push ?? 'as by default'}: ${name} is answered ${status}`, async (t) => {
    const { proxy, upstream } = await scene(t, push)
    const answer = await send(proxy, body)
    assert.equal(answer.status, status)
    assert.equal(upstream.requests.length, status === 200 ? 1 : 0)
    if (status !== 200) assert.match(await answer.text(), /^(?:Preflight|push acme)/)
  })
}

test('an encoded push is not read and does not pass', async (t) => {
  const { proxy, upstream } = await scene(t)
  assert.equal((await send(proxy, commands('refs/heads/feature'), { 'content-encoding': 'gzip' })).status, 403)
  assert.equal(upstream.requests.length, 0)
})

for (const path of [
  `${PATH}/`,
  '/acme/pets.git//git-receive-pack',
  '/acme/pets.git/git-receive-pac%6b',
  PATH.toUpperCase(),
]) {
  test(`a push to ${path} is one`, async (t) => {
    const { proxy, upstream } = await scene(t)
    const answer = await fetch(proxy.url + path, { method: 'POST', body: commands('refs/heads/main') })
    assert.equal(answer.status, 403)
    assert.equal(upstream.requests.length, 0)
  })
}

test('what git asks before a push, and every fetch, passes', async (t) => {
  const { proxy, upstream } = await scene(t)
  for (const path of [
    '/acme/pets.git/info/refs?service=git-receive-pack',
    '/acme/pets.git/info/refs?service=git-upload-pack',
  ])
    assert.equal((await fetch(proxy.url + path)).status, 200)
  assert.equal(
    (await fetch(`${proxy.url}/acme/pets.git/git-upload-pack`, { method: 'POST', body: '0000' })).status,
    200,
  )
  assert.equal(upstream.requests.length, 3)
})

/** A bare repository behind git's own HTTP server program. */
async function gitServer(t: TestContext): Promise<{ readonly origin: string; readonly directory: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-git-'))
  const bare = join(directory, 'acme', 'pets.git')
  await run('git', ['init', '-q', '--bare', bare])
  await run('git', ['-C', bare, 'config', 'http.receivepack', 'true'])
  const server = createServer((request, response) => {
    const [path = '', query = ''] = (request.url ?? '').split('?')
    const child = execFile('git', ['http-backend'], {
      encoding: 'buffer',
      env: {
        PATH: '/usr/local/bin:/usr/bin:/bin',
        GIT_PROJECT_ROOT: directory,
        GIT_HTTP_EXPORT_ALL: '1',
        REMOTE_USER: 'tester',
        PATH_INFO: path,
        QUERY_STRING: query,
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers['content-type'],
        CONTENT_LENGTH: request.headers['content-length'],
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
      },
    })
    if (child.stdin !== null) request.pipe(child.stdin)
    const chunks: Buffer[] = []
    child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.on('close', () => {
      const output = Buffer.concat(chunks)
      const end = output.indexOf('\r\n\r\n')
      const fields = output
        .subarray(0, end)
        .toString('latin1')
        .split('\r\n')
        .map((field) => field.split(': '))
      const status = Number(fields.find(([name]) => name === 'Status')?.[1]?.slice(0, 3) ?? 200)
      response.writeHead(status, fields.filter(([name]) => name !== 'Status').flat())
      response.end(output.subarray(end + 4))
    })
  })
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    })
  })
  t.after(() => {
    server.closeAllConnections()
    server.close()
    rmSync(directory, { recursive: true, force: true })
  })
  return { origin: `http://127.0.0.1:${port}`, directory }
}

test('git itself pushes a feature branch through the proxy, and gets the reason why main is refused', async (t) => {
  const { origin, directory } = await gitServer(t)
  const route = { name: 'git', match: { path: '/' }, upstream: origin, protocol: 'github' }
  const proxy = await startProxy({ routes: [route] })
  t.after(() => proxy.close())
  const work = join(directory, 'work')
  const git = (...args: readonly string[]) =>
    run('git', ['-C', work, '-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args])
  await run('git', ['init', '-q', '-b', 'main', work])
  writeFileSync(join(work, 'README.md'), 'pets')
  await git('add', '.')
  await git('commit', '-q', '-m', 'first')
  const remote = `${proxy.url}/acme/pets.git`
  await git('push', '-q', remote, 'HEAD:refs/heads/feature')
  await assert.rejects(git('push', remote, 'HEAD:refs/heads/main'), /403|Preflight/)
  const { stdout } = await run('git', [
    '-C',
    join(directory, 'acme', 'pets.git'),
    'for-each-ref',
    '--format=%(refname)',
  ])
  assert.equal(stdout.trim(), 'refs/heads/feature')
})
