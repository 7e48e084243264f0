/** Ids of requests: none is used by two requests that are under way. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { initialize, LINE_SERVER, startDesk, startLineClient } from '../../fakes/desk.ts'
import { until } from '../../fakes/until.ts'
import { at, listAt } from '../../json.ts'

const TOOL_NAMES = ['late', 'release', 'echo', 'silent', 'ask', 'received']

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

const callOf = (id: string | number, name: string) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: {} },
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
