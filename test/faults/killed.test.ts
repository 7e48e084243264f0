/** The gateway is killed (SIGKILL) during monitored calls. The next process delivers the events already written, and the outcome of open calls is UNKNOWN. */
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startEventReceiver } from '../fakes/event-receiver.ts'
import { TEST_KEY } from '../fakes/gateway.ts'
import { until } from '../fakes/until.ts'

const COMMAND = fileURLToPath(new URL('../../gateway/preflight.js', import.meta.url))
const WARN_PACK = fileURLToPath(new URL('../fakes/warn-pack.yaml', import.meta.url))
const DECISIONS = 20

test('no event that was taken is lost with the process, and the order stays', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-killed-'))
  const receiver = await startEventReceiver()
  receiver.status = 503
  const config = join(directory, 'config.json')
  const sinks = [{ type: 'http', url: receiver.url, interval: 0.01 }]
  writeFileSync(config, JSON.stringify({ policy: WARN_PACK, monitoring: { sinks } }))
  const children: ChildProcess[] = []
  t.after(async () => {
    for (const child of children) child.kill('SIGKILL')
    await receiver.close()
    rmSync(directory, { recursive: true, force: true })
  })
  const start = async (): Promise<{ readonly child: ChildProcess; readonly api: string }> => {
    const child = spawn(process.execPath, [COMMAND, 'serve', '--config', config], {
      cwd: directory,
      env: {
        PATH: '/usr/bin:/bin',
        PREFLIGHT_BOOTSTRAP_KEY: TEST_KEY,
        PREFLIGHT_PROXY_LISTEN: '127.0.0.1:0',
        PREFLIGHT_API_LISTEN: '127.0.0.1:0',
        PREFLIGHT_ADMIN_LISTEN: '127.0.0.1:0',
      },
    })
    children.push(child)
    child.stderr.resume()
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')).map(String)
    const { api = '' }: Readonly<Record<string, string>> = JSON.parse(line ?? '')
    return { child, api }
  }

  const first = await start()
  const reported: string[] = []
  for (let at = 0; at < DECISIONS; at += 1) reported.push(await authorize(first.api, `t-${at}`))
  first.child.kill('SIGKILL')
  await once(first.child, 'exit')
  assert.equal(receiver.events.length, 0)

  receiver.status = 202
  const second = await start()
  await until(() => receiver.events.length >= DECISIONS, 'the next process delivers what the first one had taken')
  assert.deepEqual(
    receiver.events.slice(0, DECISIONS).map(({ correlationId }) => correlationId),
    reported,
  )
  // The windows are still open: a direct caller outlives the gateway.
  const report = await fetch(`${second.api}/api/v1/telemetry`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      specversion: '1.0',
      id: '1',
      source: '/test',
      type: 'preflight.execution.finished',
      subject: reported[0],
      data: { outcome: 'SUCCEEDED' },
    }),
  })
  assert.equal(report.status, 202)
})

async function authorize(api: string, target: string): Promise<string> {
  const before = contract({ '/a': { get: OPERATION }, '/b': { get: OPERATION } })
  const after = contract({ '/a': { get: OPERATION } })
  const response = await fetch(`${api}/api/v1/preflight`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      preflight_mode: 'authorize',
      artifacts: [{ id: 'a', type: 'openapi', before, after }],
      context: { operation: 'merge', target_id: target },
    }),
  })
  const answer: Readonly<Record<string, unknown>> = JSON.parse(await response.text())
  assert.equal(answer['execution_action'], 'CONTINUE_WITH_MONITORING')
  return String(answer['correlation_id'])
}

const OPERATION = { responses: { 200: { description: 'ok' } } }

function contract(paths: object): string {
  return JSON.stringify({ openapi: '3.0.3', info: { title: 't', version: '1' }, paths })
}
