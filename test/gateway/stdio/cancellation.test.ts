/** Requests that a client takes back right after it sent them: the server never gets one behind its cancellation. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { initialize, LINE_SERVER, PREFLIGHT, startDesk, startLineClient } from '../../fakes/desk.ts'
import { runProgram } from '../../fakes/programs.ts'
import { until } from '../../fakes/until.ts'
import { at, listAt, textAt } from '../../json.ts'

const tool = (name: string, required: readonly string[] = []): object => ({
  name,
  description: `The tool ${name}.`,
  inputSchema: { type: 'object', required },
})
const TOOLS = [tool('silent'), tool('received')]

async function scene(t: TestContext, settings: object) {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-offer-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'tools.json')
  writeFileSync(file, JSON.stringify(TOOLS))
  const rules = [{ id: 'breaking-asks', when: "finding.level == 'breaking'", then: 'REQUIRE_APPROVAL' }]
  const pack = { apiVersion: 'preflight.dev/v1', kind: 'Policy', metadata: { name: 'asks' }, rules }
  const policy = join(folder, 'pack.yaml')
  writeFileSync(policy, JSON.stringify(pack))
  const desk = startDesk(t, JSON.stringify({ policy, routes: [{ name: 'lines', ...settings }] }))
  const client = startLineClient(desk, ['--name', 'lines'], [process.execPath, LINE_SERVER, file])
  await initialize(client)
  let count = 0
  /** What the server was sent, without the questions of the gateway. */
  const received = async (): Promise<readonly string[]> => {
    count += 1
    const answer = await client.ask(`received-${count}`, 'tools/call', { name: 'received', arguments: {} })
    assert.notEqual(at(answer, 'result', 'isError'), true, JSON.stringify(answer))
    const lines = listAt(JSON.parse(textAt(answer, 'result', 'content', 0, 'text')))
    return lines.flatMap((line) => events(JSON.parse(String(line))))
  }
  await received()
  return { client, received, file, desk }
}

/** The requests and cancellations in a line, by their ids. */
function events(line: unknown): readonly string[] {
  return [line].flat().flatMap((message) => {
    const name = at(message, 'params', 'name')
    if (name === 'silent') return [`call ${String(at(message, 'id'))}`]
    const isCancellation = at(message, 'method') === 'notifications/cancelled'
    return isCancellation ? [`cancel ${String(at(message, 'params', 'requestId'))}`] : []
  })
}

const callOf = (id: string, pad = '') => ({ id, method: 'tools/call', params: { name: 'silent', arguments: { pad } } })
const cancelOf = (requestId: string) => ({ method: 'notifications/cancelled', params: { requestId } })
const lineOf = (...messages: readonly object[]): string =>
  JSON.stringify(messages.map((message) => ({ jsonrpc: '2.0', ...message })))

/** Lines by which a client takes two requests back. */
const WAYS: Readonly<Record<string, (a: string, b: string) => readonly (object | string)[]>> = {
  'one by one': (a, b) => [cancelOf(a), cancelOf(b)],
  'in a batch': (a, b) => [lineOf(cancelOf(a), cancelOf(b))],
}

for (const refresh of [0, 60])
  test(`calls that are cancelled do not come behind that, with a listing ${refresh === 0 ? 'for each' : 'before'}`, async (t) => {
    const { client, received } = await scene(t, { contract: { refresh } })
    for (const size of [0, 1_000_000])
      for (const [how, cancellationsOf] of Object.entries(WAYS)) {
        const ids = [`a ${size} ${how}`, `b ${size} ${how}`] as const
        for (const id of ids) client.send(callOf(id, 'x'.repeat(size)))
        for (const line of cancellationsOf(...ids)) client.send(line)
        const haveArrived = (seen: readonly string[]): boolean => ids.every((id) => seen.includes(`cancel ${id}`))
        await until(async () => haveArrived(await received()), 'the server is told')
        const seen = await received()
        for (const id of ids)
          assert.ok(!seen.slice(seen.indexOf(`cancel ${id}`)).includes(`call ${id}`), seen.join('; '))
        const answers = client.messages.filter(({ id }) => ids.some((one) => one === id))
        assert.deepEqual(answers, [], 'nobody waits for an answer')
      }
  })

test('a call that the server has is cancelled there, and others go on', async (t) => {
  const { client, received } = await scene(t, {})
  client.send(callOf('a'))
  client.send(callOf('b'))
  await until(async () => (await received()).length === 2, 'the server has both')
  for (const id of ['unknown', 'a']) client.send(cancelOf(id))
  await until(async () => (await received()).length === 4, 'the server is told')
  assert.deepEqual((await received()).toSorted(), ['call a', 'call b', 'cancel a', 'cancel unknown'])
})

test('an id that was cancelled can be used again', async (t) => {
  const { client, received } = await scene(t, {})
  for (let round = 1; round <= 3; round += 1) {
    client.send(cancelOf('a'))
    client.send(callOf('a'))
    await until(async () => (await received()).filter((one) => one === 'call a').length === round, 'it comes')
  }
})

test('a call that waits for an approval does not run once it is cancelled', async (t) => {
  const { client, received, file, desk } = await scene(t, { hold: 60, contract: { refresh: 0 } })
  const command = (...argv: readonly string[]) =>
    runProgram(process.execPath, ['--disable-warning=ExperimentalWarning', PREFLIGHT, 'mcp', ...argv], desk.environment)
  writeFileSync(file, JSON.stringify([tool('silent', ['pad']), tool('received')]))
  client.send(callOf('a'))
  await until(async () => (await command('list')).stdout.includes('changed'), 'the change is known')
  client.send(cancelOf('a'))
  await until(async () => (await received()).includes('cancel a'), 'the server is told')
  const accepted = await command('accept', 'lines', '--comment', 'reviewed')
  assert.equal(accepted.code, 0, accepted.stderr)
  client.send(callOf('b'))
  await until(async () => (await received()).includes('call b'), 'the next call runs')
  assert.ok(!(await received()).includes('call a'))
})
