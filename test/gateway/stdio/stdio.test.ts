/** `preflight mcp` between an editor and a server: judged calls, messages in both directions, and faults. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import {
  initialize,
  LINE_SERVER,
  PREFLIGHT,
  startDesk,
  startLineClient,
  type Desk,
  type LineClient,
  started,
} from '../../fakes/desk.ts'
import { startScript } from '../../../bench/gateway.ts'
import { runProgram } from '../../fakes/programs.ts'
import { at } from '../../json.ts'
import { until } from '../../fakes/until.ts'

const TOOL_NAMES = ['echo', 'big', 'crash', 'silent', 'noise', 'steps', 'ask', 'alone', 'received']
const tool = (name: string, required: readonly string[] = []): object => ({
  name,
  description: `The tool ${name}.`,
  inputSchema: { type: 'object', properties: { size: { type: 'number' }, a: { type: 'string' } }, required },
})

/** The file with what the server offers. */
function offer(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-offer-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'tools.json')
  writeFileSync(file, JSON.stringify(TOOL_NAMES.map((name) => tool(name))))
  return file
}

const call = (client: LineClient, id: string, name: string, args: object = {}) =>
  client.ask(id, 'tools/call', { name, arguments: args })

const textIn = (answer: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(answer['result'] ?? answer['error'])

const command = (desk: Desk, ...argv: readonly string[]) =>
  runProgram(process.execPath, ['--disable-warning=ExperimentalWarning', PREFLIGHT, 'mcp', ...argv], desk.environment)

test('a call of a tool that changed is refused, other tools answer, and an accepted change answers again', async (t) => {
  const desk = startDesk(t, 'routes:\n  - name: lines\n    contract: { refresh: 0 }\n')
  const file = offer(t)
  const client = await started(desk, file)
  assert.match(textIn(await call(client, '1', 'echo', { a: 'hello' })), /hello/)
  writeFileSync(file, JSON.stringify(TOOL_NAMES.map((name) => tool(name, name === 'echo' ? ['a'] : []))))
  const refused = await call(client, '2', 'echo', { a: 'hello' })
  assert.match(textIn(refused), /"isError":true/)
  assert.match(textIn(refused), /Preflight stopped/)
  assert.match(textIn(await call(client, '3', 'noise')), /done/)
  assert.match((await command(desk, 'list')).stdout, /lines +changed/)
  const changes = await command(desk, 'changes', 'lines')
  assert.equal(changes.code, 1)
  assert.match(changes.stdout, /echo/)
  // The two sides by their roles, not by files that are gone.
  assert.match(changes.stdout, /^ +offered:1:\d+ /m)
  assert.doesNotMatch(changes.stdout, /\/tmp\//)
  // The command of the refusal, in a folder where another gateway was started.
  const elsewhere = mkdtempSync(join(tmpdir(), 'preflight-elsewhere-'))
  t.after(() => rmSync(elsewhere, { recursive: true, force: true }))
  const promote = ['baselines', 'promote', 'lines', `sha256:${'0'.repeat(64)}`, '--data-dir', elsewhere]
  const lost = await runProgram(process.execPath, [PREFLIGHT, ...promote], desk.environment)
  assert.match(lost.stderr, /lines is a server of preflight mcp: preflight mcp accept lines --comment WHY\n/)
  const accepted = await command(desk, 'accept', 'lines', '--comment', 'reviewed')
  assert.equal(accepted.code, 0, accepted.stderr)
  let tries = 0
  await until(async () => {
    tries += 1
    return !textIn(await call(client, `again-${tries}`, 'echo', { a: 'hello' })).includes('isError')
  }, 'the accepted tool answers')
  assert.match((await command(desk, 'list')).stdout, /lines +unchanged/)
})

test('progress arrives before the result, and a request of the server reaches the client', async (t) => {
  const client = await started(startDesk(t), offer(t))
  client.send({ id: 's', method: 'tools/call', params: { name: 'steps', _meta: { progressToken: 'steps' } } })
  await client.answer('s')
  const kinds = client.messages.slice(1).map((message) => message['method'] ?? message['id'])
  assert.deepEqual(kinds, [...Array(3).fill('notifications/progress'), 's'])
  client.send({ id: 'q', method: 'tools/call', params: { name: 'ask' } })
  await until(() => client.messages.some(({ method }) => method === 'sampling/createMessage'), 'the server asks')
  client.send({ id: 'ask-1', result: { role: 'assistant', content: { type: 'text', text: 'sampled' }, model: 'm' } })
  assert.match(textIn(await client.answer('q')), /sampled/)
})

test('messages of many megabytes pass in both directions', async (t) => {
  const client = await started(startDesk(t), offer(t))
  const size = 12 * 1024 * 1024
  assert.ok(textIn(await call(client, '1', 'big', { size })).length > size)
  assert.ok(textIn(await call(client, '2', 'echo', { a: 'y'.repeat(size) })).length > size)
})

test('a server that crashes: its calls fail with the reason, and the exit code is its own', async (t) => {
  const client = await started(startDesk(t), offer(t))
  client.send({ id: 'w', method: 'tools/call', params: { name: 'silent' } })
  assert.match(textIn(await call(client, 'c', 'crash')), /ended with exit code 7/)
  assert.match(textIn(await client.answer('w')), /ended with exit code 7/)
  assert.equal(await client.exit, 7)
})

test('a line that some servers read as two messages is not forwarded', async (t) => {
  const client = await started(startDesk(t), offer(t))
  const hidden = '{"jsonrpc":"2.0","id":"h","method":"tools/call","params":{"name":"crash"}}'
  client.send(`{"jsonrpc":"2.0","id":"p","method":"ping","params":{"a":\r${hidden}\r}}`)
  assert.match(textIn(await client.answer('p')), /one line/)
  const seen = textIn(await call(client, 'r', 'received'))
  assert.doesNotMatch(seen, /crash/)
})

for (const end of ['\u0085', '\u2028', '\u2029'])
  test(`a message with U+${end.charCodeAt(0).toString(16).padStart(4, '0')} is one line to every server and client`, async (t) => {
    const client = await started(startDesk(t), offer(t))
    const hidden = '{"jsonrpc":"2.0","id":"h","method":"tools/call","params":{"name":"crash"}}'
    const a = `\\${end}é${hidden}${end}`
    assert.deepEqual(JSON.parse(String(at(await call(client, 'e', 'echo', { a }), 'result', 'content', 0, 'text'))), {
      a,
    })
    const received: unknown = JSON.parse(
      String(at(await call(client, 'r', 'received'), 'result', 'content', 0, 'text')),
    )
    assert.ok(Array.isArray(received))
    assert.ok(!received.some((line) => String(line).includes(end)))
    assert.ok(received.every((line) => String(line).startsWith('{"')))
  })

test('a message that is not JSON gets the error of JSON-RPC, and a line of the server that is none is not forwarded', async (t) => {
  const client = await started(startDesk(t), offer(t))
  client.send('{"jsonrpc": nonsense')
  await until(() => client.messages.some(({ id, error }) => id === null && error !== undefined), 'an error')
  assert.match(textIn(await call(client, 'n', 'noise')), /done/)
  assert.match(client.stderr(), /not a message; it was not forwarded: a line for people/)
})

test('a request that is taken back is not answered, and the client goes on', async (t) => {
  const client = await started(startDesk(t), offer(t))
  client.send({ id: 'w', method: 'tools/call', params: { name: 'silent' } })
  client.send({ method: 'notifications/cancelled', params: { requestId: 'w' } })
  assert.match(textIn(await call(client, '1', 'echo', { a: 'next' })), /next/)
  assert.ok(!client.messages.some(({ id }) => id === 'w'))
})

test('when the daemon dies, calls under way fail, and the next one is judged by a new daemon', async (t) => {
  const desk = startDesk(t)
  const client = await started(desk, offer(t))
  assert.match(textIn(await call(client, '1', 'echo')), /content/)
  client.send({ id: 'w', method: 'tools/call', params: { name: 'silent' } })
  assert.match(textIn(await call(client, '2', 'received')), /silent/)
  process.kill(await desk.daemon(), 'SIGKILL')
  assert.match(textIn(await client.answer('w')), /daemon of preflight ended/)
  assert.match(textIn(await call(client, '3', 'echo', { a: 'after' })), /after/)
})

test('ten servers of a user share one daemon and one ledger', async (t) => {
  const desk = startDesk(t)
  const file = offer(t)
  const clients = Array.from({ length: 10 }, (_, index) =>
    startLineClient(desk, ['--name', `server-${index}`], [process.execPath, LINE_SERVER, file]),
  )
  await Promise.all(clients.map((client) => initialize(client)))
  const answers = await Promise.all(clients.map((client, index) => call(client, '1', 'echo', { a: `hello ${index}` })))
  assert.deepEqual(
    answers.map((answer, index) => textIn(answer).includes(`hello ${index}`)),
    clients.map(() => true),
  )
  const listed = await command(desk, 'list')
  assert.equal(listed.stdout.match(/unchanged/g)?.length, 10, listed.stdout + listed.stderr)
})

test('the daemon gets the memory settings of the image, unless its user sets others', async (t) => {
  for (const [set, wanted] of [
    [{}, startScript().environment],
    [{ MALLOC_ARENA_MAX: '4' }, { ...startScript().environment, MALLOC_ARENA_MAX: '4' }],
  ] as const) {
    const desk = startDesk(t)
    await started({ ...desk, environment: { ...desk.environment, ...set } }, offer(t))
    const environment = readFileSync(`/proc/${await desk.daemon()}/environ`, 'utf8').split('\0')
    const given = environment.filter((one) => one.startsWith('MALLOC_')).map((one) => one.split('='))
    assert.deepEqual(Object.fromEntries(given), wanted)
  }
})

test('a client that ends its input gets its answers first, and the server ends', async (t) => {
  const client = startLineClient(startDesk(t), ['--name', 'lines'], [process.execPath, LINE_SERVER, offer(t)])
  await initialize(client)
  client.send({ id: 'last', method: 'tools/call', params: { name: 'echo', arguments: { a: 'last' } } })
  client.process.stdin?.end()
  assert.equal(await client.exit, 0)
  assert.match(textIn(await client.answer('last')), /last/)
})

test('mistakes in the settings stop the server, with their place', async (t) => {
  const desk = startDesk(t, 'policy: nonsense\n')
  const client = startLineClient(desk, ['--name', 'lines'], [process.execPath, LINE_SERVER, offer(t)])
  client.send({ id: 1, method: 'ping' })
  assert.equal(await client.exit, 3)
  assert.match(client.stderr(), /nonsense/)
  assert.match(textIn(await client.answer(1)), /nonsense/)
})

test('a program that does not exist, and names that routes cannot have', async (t) => {
  const desk = startDesk(t)
  const client = startLineClient(desk, [], ['there-is-no-such-program'])
  assert.equal(await client.exit, 127)
  assert.match(client.stderr(), /no such program/)
  const named = startLineClient(desk, ['--name', 'No Name'], ['true'])
  assert.equal(await named.exit, 2)
  assert.match(named.stderr(), /lower-case letters/)
})

test('only this user can reach the daemon, and what it keeps', async (t) => {
  const desk = startDesk(t)
  await started(desk, offer(t))
  const { statSync } = await import('node:fs')
  assert.equal(statSync(desk.home).mode & 0o077, 0)
  const config: unknown = JSON.parse(readFileSync(join(desk.home, 'gateway.json'), 'utf8'))
  assert.ok(JSON.stringify(config).includes('"lines"'))
  assert.equal(statSync(join(desk.home, 'gateway.json')).mode & 0o077, 0)
})

test('a message that cannot be read gets one answer, with its id', async (t) => {
  const client = await started(startDesk(t), offer(t))
  const before = client.messages.length
  client.send('{"jsonrpc":"2.0","id":"twice","method":"tools/call","method":"ping"}')
  assert.match(textIn(await client.answer('twice')), /written twice/)
  await call(client, 'after', 'noise')
  assert.deepEqual(
    client.messages.slice(before).map(({ id }) => id),
    ['twice', 'after'],
  )
})

test('an answer in an array of one arrives as the message alone', async (t) => {
  const client = await started(startDesk(t), offer(t))
  assert.match(textIn(await call(client, 'one', 'alone')), /alone/)
})
