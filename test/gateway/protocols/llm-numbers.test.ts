/** Numbers with more digits than a double keeps, in the tools that a caller gives to a model: the table keeps them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withWrittenNumbers } from '../../../gateway/json/written-numbers.ts'
import { bodyParts } from '../../../gateway/protocols/llm/body-parts.ts'
import { toolTableOf } from '../../../gateway/protocols/llm/tool-table.ts'
import { startTestGateway } from '../../fakes/gateway.ts'
import { startHttpUpstream } from '../../fakes/http-upstream.ts'

/** As a caller writes it: `JSON.stringify` would round the number. */
function bodyWith(maximum: string): string {
  const schema = `{"type":"object","properties":{"n":{"type":"integer","maximum":${maximum}}}}`
  return `{"model":"m","messages":[],"tools":[{"type":"function","function":{"name":"count","parameters":${schema}}}]}`
}

function tableOf(body: string): string {
  const read = bodyParts(withWrittenNumbers(body, JSON.parse(body)), [])
  assert.ok(read.ok)
  const table = toolTableOf(read.parts)
  assert.ok(table.kind === 'tools')
  return table.offered.content
}

test('a table of tools has the digits of its numbers, and is else the canonical text', () => {
  assert.equal(
    tableOf(bodyWith('9007199254740993')),
    '{"tools":[{"function":{"name":"count","parameters":{"properties":{"n":{"maximum":9007199254740993,"type":"integer"}},"type":"object"}},"type":"function"}]}',
  )
  assert.match(tableOf(bodyWith('1e2')), /"maximum":100,/)
})

test('a bound that changes by less than a double keeps is another table', async (t) => {
  const upstream = await startHttpUpstream((_request, response) => response.end('{"id":"answer"}'))
  const { addresses } = await startTestGateway(t, {
    routes: [{ name: 'model', match: { path: '/' }, upstream: upstream.origin, protocol: 'llm', llm: {} }],
    monitoring: { sinks: [{ type: 'log' }] },
  })
  t.after(() => upstream.close())
  const send = async (maximum: string): Promise<number> => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${addresses.proxy}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body: bodyWith(maximum),
    })
    await answer.arrayBuffer()
    return answer.status
  }
  assert.equal(await send('9007199254740993'), 200)
  assert.equal(await send('9007199254740993'), 200)
  assert.notEqual(await send('9007199254740992'), 200)
})
