/** The calls of the README, made unchanged against a gateway that is started as the README describes. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startGatewayProcess } from '../../bench/gateway.ts'
import { startSummary } from '../../gateway/cli/serve.ts'
import { startTestGateway } from '../fakes/gateway.ts'
import { at } from '../json.ts'

const README = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')
const API = 'http://127.0.0.1:15081'

/** Path and body of each `curl … -d '…'` of the page, by path. */
function shownCalls(): ReadonlyMap<string, string> {
  const calls = README.matchAll(/^curl -s (\S+) .*-H 'Content-Type: application\/json' -d '([^']+)'/gm)
  return new Map([...calls].map(([, url = '', body = '']) => [url.replace(API, ''), body]))
}

test('the calls of the README are answered as it says', async (t) => {
  const gateway = await startGatewayProcess({ log: { level: 'warn' } })
  t.after(() => gateway.stop())
  const calls = shownCalls()
  const post = (path: string): Promise<Response> =>
    fetch(gateway.addresses.api + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.apiKey}`, 'content-type': 'application/json' },
      body: calls.get(path) ?? assert.fail(`the README shows no call of ${path}`),
    })

  const report = await post('/api/diff')
  assert.equal(report.status, 200)
  assert.match(report.headers.get('content-type') ?? '', /^text\/markdown/)
  assert.match(await report.text(), /api-path-removed-without-deprecation/)

  const answer: unknown = await (await post('/api/v1/preflight')).json()
  assert.equal(at(answer, 'execution_action'), 'CONTINUE')
  assert.equal(typeof at(answer, 'chain_receipt'), 'string')
})

/** What stands at the beginning of each line of a summary. */
function labelsOf(text: string): readonly string[] {
  return [...text.matchAll(/^ {2}(\w+(?: \w+)?) {2,}\S/gm)].map(([, label = '']) => label)
}

test('the start summary has the lines that the README shows', async (t) => {
  const gateway = await startTestGateway(t, {})
  const shown = /^Preflight Gateway is ready\.\n[^]*?^```/m.exec(README)?.[0] ?? ''
  assert.ok(labelsOf(shown).length > 5)
  assert.deepEqual(labelsOf(startSummary(gateway, false)), labelsOf(shown))
})
