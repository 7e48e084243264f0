/** Ids of requests: none is used by two requests that are under way, and no answer is given to another request than its own. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { StreamableFace } from '../../../gateway/stdio/streamable-face.ts'
import { initialize, LINE_SERVER, startDesk, startLineClient } from '../../fakes/desk.ts'
import { listening } from '../../fakes/listening.ts'
import { until } from '../../fakes/until.ts'
import { at, listAt } from '../../json.ts'

const TOOL_NAMES = ['late', 'odd', 'release', 'echo', 'silent', 'ask', 'received']

async function started(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-offer-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'tools.json')
  const tools = TOOL_NAMES.map((name) => ({ name, description: name, inputSchema: { type: 'object' } }))
  writeFileSync(file, JSON.stringify(tools))
  const client = startLineClient(startDesk(t), ['--name', 'lines'], [process.execPath, LINE_SERVER, file])
  await initialize(client)
  const answersTo = (id: string | number) => client.messages.filter((one) => one['id'] === id && !('method' in one))
  /** Calls of the tool that reached the server. */
  const callsOf = async (name: string): Promise<number> => {
    const answer = await client.ask(`received ${name}`, 'tools/call', { name: 'received', arguments: {} })
    const lines = listAt(JSON.parse(String(at(answer, 'result', 'content', 0, 'text'))))
    return lines.filter((line) => at([JSON.parse(String(line))].flat()[0], 'params', 'name') === name).length
  }
  return { client, answersTo, callsOf }
}

const callOf = (id: string | number, name: string, as = '') => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: { as } },
})

/** A first line, one that uses an id of it again, and the ids that are refused. */
const REUSES: readonly (readonly [what: string, second: string, refused: readonly (string | number)[]])[] = [
  ['a number again', JSON.stringify(callOf(7, 'echo')), [7]],
  ['a number in another form', JSON.stringify(callOf(7, 'echo')).replace('"id":7', '"id":7.0'), [7]],
  ['a number with an exponent', JSON.stringify(callOf(7, 'echo')).replace('"id":7', '"id":70e-1'), [7]],
  ['in a batch, with another request', JSON.stringify([callOf(8, 'echo'), callOf(7, 'echo')]), [8, 7]],
  ['twice in a batch', JSON.stringify([callOf(9, 'echo'), callOf(9, 'echo')]), [9]],
]

for (const [what, second, refused] of REUSES)
  test(`an id that is under way is refused (${what}), and the first request gets its answer`, async (t) => {
    const { client, answersTo, callsOf } = await started(t)
    client.send(JSON.stringify(callOf(7, 'late')))
    client.send(second)
    for (const id of refused) {
      await until(() => answersTo(id).length === 1, `${id} is refused`)
      assert.equal(at(answersTo(id)[0], 'error', 'code'), -32_600)
      assert.match(String(at(answersTo(id)[0], 'error', 'message')), /the id \d .*not sent.*new id/)
    }
    assert.equal(await callsOf('echo'), 0)
    await client.ask('go', 'tools/call', { name: 'release', arguments: {} })
    await until(() => answersTo(7).some((one) => 'result' in one), 'the first is answered')
    // Its id is free after the answer.
    client.send(JSON.stringify(callOf(7, 'echo')))
    await until(() => answersTo(7).filter((one) => 'result' in one).length === 2, 'the id is used again')
  })

test('a number and a text of the same characters are two ids, and ids of the server are another matter', async (t) => {
  const { client, answersTo } = await started(t)
  client.send(callOf(1, 'late'))
  client.send(callOf('1', 'late'))
  client.send(callOf('ask-1', 'silent'))
  client.send(callOf('q', 'ask'))
  await until(() => client.messages.some(({ method }) => method === 'sampling/createMessage'), 'the server asks')
  client.send({ id: 'ask-1', result: { role: 'assistant', content: { type: 'text', text: 'sampled' }, model: 'm' } })
  assert.match(JSON.stringify(await client.answer('q')), /sampled/)
  await client.ask('go', 'tools/call', { name: 'release', arguments: {} })
  for (const id of [1, '1']) assert.match(JSON.stringify(await client.answer(id)), /late/)
  assert.equal(answersTo('ask-1').length, 0)
})

for (const [as, id, message] of [
  ['marked', 5, /byte order mark/],
  ['marked', '5', /byte order mark/],
  ['other type', 5, /answered the id "5", and the id of the request is 5/],
  ['other type', -5, /answered the id "-5", and the id of the request is -5/],
  ['other type', 5.5, /answered the id "5.5", and the id of the request is 5.5/],
  ['other type', '5', /answered the id 5, and the id of the request is "5"/],
  ['null', 5, /does not name its request: no JSON/],
  ['none', 5, /does not name its request/],
  ['object', 5, /does not name its request/],
] as const)
  test(`an answer that clients cannot match (${as}, id ${JSON.stringify(id)}) is an error of its request`, async (t) => {
    const { client } = await started(t)
    client.send(callOf(id, 'odd', as))
    const answer = await client.answer(id)
    assert.match(String(at(answer, 'error', 'message')), message)
    assert.match(client.stderr(), message)
    assert.equal(client.messages.filter((one) => one['id'] === id || one['id'] === null).length, 1)
    assert.match(JSON.stringify(await client.ask('next', 'tools/call', { name: 'echo', arguments: {} })), /"result"/)
  })

/** A server over lines that a test plays, behind HTTP. */
async function playedServer(t: TestContext, orphanedAfterMs?: number) {
  const lines: string[] = []
  const notes: string[] = []
  const face = new StreamableFace(
    's',
    { write: (line) => void lines.push(line.toString()), note: (text) => void notes.push(text) },
    () => 0,
    orphanedAfterMs,
  )
  const server = createServer((request, response) => void face.serve(request, response))
  const origin = await listening(t, server)
  const post = async (body: unknown): Promise<string> => {
    const answer = await fetch(origin, { method: 'POST', body: JSON.stringify(body) })
    return answer.text()
  }
  const write = (message: object): void =>
    void face.receive(Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message })))
  return { lines, notes, post, write }
}

const CANCELLED = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }

test('over HTTP an id under way is refused, and the first request gets its answer', async (t) => {
  const { lines, post, write } = await playedServer(t)
  const first = post(callOf(1, 'x'))
  await until(() => lines.length === 1, 'it is under way')
  assert.equal(at(JSON.parse(await post(callOf(1, 'x'))), 'error', 'code'), -32_600)
  const batch = listAt(JSON.parse(await post([callOf(2, 'x'), callOf(1, 'x')])))
  assert.deepEqual(
    batch.map((one) => [at(one, 'id'), at(one, 'error', 'code')]),
    [
      [2, -32_600],
      [1, -32_600],
    ],
  )
  assert.equal(lines.length, 1)
  write({ id: 1, result: {} })
  assert.match(await first, /"result"/)
  const next = post(callOf(1, 'x'))
  await until(() => lines.length === 2, 'its id is free')
  write({ id: 1, result: { again: true } })
  assert.match(await next, /"again"/)
})

test('over HTTP a cancelled id is used again immediately, and a cancellation ends no other request', async (t) => {
  const { lines, post, write } = await playedServer(t)
  const [cancelled, other, text] = [post(callOf(1, 'x')), post(callOf(2, 'x')), post(callOf('1', 'x'))]
  await until(() => lines.length === 3, 'they are under way')
  await post(CANCELLED)
  assert.doesNotMatch(await cancelled, /data: \{/)
  const next = post(callOf(1, 'again'))
  await until(() => lines.length === 5, 'the server has it')
  for (const id of [2, '1', 1]) write({ id, result: { id } })
  assert.deepEqual(
    (await Promise.all([next, other, text])).map((one) => at(JSON.parse(one), 'result', 'id')),
    [1, 2, '1'],
  )
})

test('an answer that names none of several requests ends none of them, and is noted', async (t) => {
  const { lines, notes, post, write } = await playedServer(t)
  const [one, two] = [post(callOf(1, 'x')), post(callOf(2, 'x'))]
  await until(() => lines.length === 2, 'they are under way')
  write({ id: null, error: { code: -32_700, message: 'unreadable' } })
  for (const id of [1, 2]) write({ id, result: {} })
  for (const answer of [one, two]) assert.match(await answer, /"result"/)
  assert.match(notes.join(), /does not name its request: unreadable; it was not forwarded/)
})

const UNNAMED = { id: null, error: { code: -32_700, message: 'unreadable' } }

/** What a server writes while the requests 1, 2 and 3 are under way, and those that end with an error then. */
const UNNAMED_ANSWERS: readonly (readonly [what: string, written: readonly object[], failed: readonly number[]])[] = [
  ['one, first', [UNNAMED, { id: 1, result: {} }, { id: 2, result: {} }], [3]],
  ['one, between', [{ id: 3, result: {} }, UNNAMED, { id: 1, result: {} }], [2]],
  ['one, last', [{ id: 3, result: {} }, { id: 1, result: {} }, UNNAMED], [2]],
  ['one, beside an id of the other type', [UNNAMED, { id: '1', result: {} }, { id: 2, result: {} }], [1, 3]],
  ['two', [UNNAMED, { id: 2, result: {} }, UNNAMED], [1, 3]],
  ['two, first', [UNNAMED, UNNAMED, { id: 1, result: {} }], [2, 3]],
  ['three', [UNNAMED, UNNAMED, UNNAMED], [1, 2, 3]],
  ['four', [UNNAMED, UNNAMED, UNNAMED, UNNAMED], [1, 2, 3]],
]

for (const [what, written, failed] of UNNAMED_ANSWERS)
  test(`answers that name none of several requests (${what}) end those that get no other answer`, async (t) => {
    const { lines, post, write } = await playedServer(t, 1)
    const answers = [1, 2, 3].map(async (id) => post(callOf(id, 'x')))
    await until(() => lines.length === 3, 'they are under way')
    for (const message of written) write(message)
    const errors = (await Promise.all(answers)).map((one) => at(JSON.parse(one), 'error', 'message') ?? null)
    assert.deepEqual(
      errors.flatMap((error, index) => (error === null ? [] : [index + 1])),
      failed,
    )
    for (const id of failed)
      assert.match(JSON.stringify(errors[id - 1]), /does not name its request|the id of the request is/)
  })

test('a request that comes later is not ended by an answer that names none', async (t) => {
  const { lines, post, write } = await playedServer(t, 1)
  const [one, two] = [post(callOf(1, 'x')), post(callOf(2, 'x'))]
  await until(() => lines.length === 2, 'they are under way')
  write(UNNAMED)
  const later = post(callOf(3, 'x'))
  await until(() => lines.length === 3, 'it is under way')
  write({ id: 2, result: {} })
  assert.match(await two, /"result"/)
  assert.match(await one, /"error"/)
  write({ id: 3, result: {} })
  assert.match(await later, /"result"/)
})

test('an answer that names none may be for a request that was cancelled: no other one is ended', async (t) => {
  const { lines, post, write } = await playedServer(t, 1)
  const [, two, three] = [post(callOf(1, 'x')), post(callOf(2, 'x')), post(callOf(3, 'x'))]
  await until(() => lines.length === 3, 'they are under way')
  write(UNNAMED)
  await post(CANCELLED)
  write({ id: 3, result: {} })
  assert.match(await three, /"result"/)
  await new Promise((resolve) => setTimeout(resolve, 20))
  write({ id: 2, result: {} })
  assert.match(await two, /"result"/)
})

test('the late answer to a cancelled request ends no request whose id has the other type', async (t) => {
  const { lines, post, write } = await playedServer(t)
  void post(callOf(1, 'x'))
  await until(() => lines.length === 1, 'it is under way')
  await post(CANCELLED)
  const other = post(callOf('1', 'x'))
  await until(() => lines.length === 3, 'it is under way')
  write({ id: 1, result: { late: true } })
  write({ id: '1', result: {} })
  assert.deepEqual(at(JSON.parse(await other), 'result'), {})
})
