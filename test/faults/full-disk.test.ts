/**
 * The disk is full. The test sets a limit on the size of files (RLIMIT_FSIZE) of the running gateway. Every growing write of
 * the ledger then fails as on a full disk. Without the limit there is space again.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { TEST_KEY } from '../fakes/gateway.ts'

const COMMAND = fileURLToPath(new URL('../../gateway/preflight.js', import.meta.url))

test('while the disk is full nothing is allowed, and when there is space again the gateway goes on by itself', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'preflight-full-'))
  const child = spawn(process.execPath, [COMMAND, 'serve'], {
    cwd: directory,
    env: {
      PATH: '/usr/bin:/bin',
      PREFLIGHT_BOOTSTRAP_KEY: TEST_KEY,
      PREFLIGHT_PROXY_LISTEN: '127.0.0.1:0',
      PREFLIGHT_API_LISTEN: '127.0.0.1:0',
      PREFLIGHT_ADMIN_LISTEN: '127.0.0.1:0',
    },
  })
  t.after(() => {
    child.kill('SIGKILL')
    rmSync(directory, { recursive: true, force: true })
  })
  child.stderr.resume()
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')).map(String)
  const { api, admin }: Readonly<Record<string, string>> = JSON.parse(line ?? '')
  const authorize = (target: string) => post(`${api}/api/v1/preflight`, authorizeBody(target))
  const limit = (bytes: string) => execFileSync('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:`])

  assert.equal((await fetch(`${admin}/readyz`)).status, 200)
  const before = await authorize('before')
  assert.equal(before.status, 200)
  assert.equal(before.body['execution_action'], 'CONTINUE')

  // Less than one page: no write of the ledger fits, wherever in its files it goes.
  limit('1024')
  assert.equal((await authorize('full-0')).status, 503)
  assert.equal((await fetch(`${admin}/readyz`)).status, 503, 'from the first write that failed')
  for (const target of ['full-1', 'full-2', 'full-3']) {
    const { status, body } = await authorize(target)
    assert.equal(status, 503)
    assert.equal(body['error'], 'STORE_UNAVAILABLE')
    assert.ok(!('decision' in body) && !('chain_receipt' in body))
  }
  assert.equal((await fetch(`${admin}/readyz`)).status, 503)
  assert.equal((await fetch(`${admin}/livez`)).status, 200)

  limit('unlimited')
  const again = await authorize('after')
  assert.equal(again.status, 200)
  assert.equal(again.body['execution_action'], 'CONTINUE')
  child.kill('SIGTERM')
  await once(child, 'exit')
  const chain = execFileSync(process.execPath, [COMMAND, 'ledger', 'verify'], { cwd: directory })
  assert.match(String(chain), /The ledger is intact/)
  const listed: { readonly sequence: number }[] = JSON.parse(
    String(execFileSync(process.execPath, [COMMAND, 'ledger', 'list', '--format', 'json'], { cwd: directory })),
  )
  assert.deepEqual(
    listed.map(({ sequence }) => sequence),
    [2, 1],
  )
})

function authorizeBody(target: string): object {
  const contract = JSON.stringify({ openapi: '3.0.3', info: { title: 't', version: '1' }, paths: {} })
  return {
    preflight_mode: 'authorize',
    artifacts: [{ id: 'a', type: 'openapi', before: contract, after: contract }],
    context: { operation: 'merge', target_id: target },
  }
}

async function post(
  url: string,
  body: object,
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer: Record<string, unknown> = JSON.parse(await response.text())
  return { status: response.status, body: answer }
}
