/**
 * Tests a gateway that `npm start` started. Waits for its ready line and authorizes a change. Verifies the receipt by the API and
 * offline by the command line, and checks that a breaking change is blocked. Called by .ci/run with the file that stdout goes to.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const READY_WITHIN_MILLISECONDS = 30_000
const ROOT = join(import.meta.dirname, '..')

function member(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null
        ? Object.entries(inner).find(([key]) => key === name)?.[1]
        : undefined,
    value,
  )
}

function text(value: unknown, ...path: readonly string[]): string {
  const found = member(value, ...path)
  assert.ok(typeof found === 'string', `${path.join('.')} is missing in ${JSON.stringify(value)}`)
  return found
}

/** The ready line among npm's own lines. */
async function readyLine(file: string): Promise<unknown> {
  for (let waited = 0; waited < READY_WITHIN_MILLISECONDS; waited += 100) {
    const line = readFileSync(file, 'utf8')
      .split('\n')
      .find((candidate) => candidate.startsWith('{"event":"ready"'))
    if (line !== undefined) return JSON.parse(line)
    await sleep(100)
  }
  throw new Error(`no ready line within ${READY_WITHIN_MILLISECONDS / 1000} s`)
}

function origin(address: string): string {
  return address.startsWith('http') ? address : `http://${address}`
}

const file = process.argv[2]
const key = process.env['PREFLIGHT_BOOTSTRAP_KEY']
assert.ok(file !== undefined && key !== undefined, 'usage: PREFLIGHT_BOOTSTRAP_KEY=… smoke.ts STDOUT_FILE')
const ready = await readyLine(file)
const api = origin(text(ready, 'api'))
const admin = origin(text(ready, 'admin'))

async function post(path: string, body: unknown): Promise<{ readonly status: number; readonly answer: unknown }> {
  const response = await fetch(api + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, answer: await response.json() }
}

const contract = (operations: Readonly<Record<string, unknown>>): string =>
  JSON.stringify({ openapi: '3.0.3', info: { title: 'shop', version: '1.0.0' }, paths: { '/orders': operations } })
const list = { get: { operationId: 'listOrders', responses: { '200': { description: 'Orders.' } } } }
const create = { post: { operationId: 'createOrder', responses: { '201': { description: 'Made.' } } } }
const authorize = (before: string, after: string): unknown => ({
  preflight_mode: 'authorize',
  artifacts: [{ id: 'shop', type: 'openapi', before, after }],
  context: { operation: 'deploy', environment: 'production' },
})

assert.equal((await fetch(`${admin}/readyz`)).status, 200, '/readyz')

const unchanged = await post(
  '/api/v1/preflight',
  authorize(contract({ ...list, ...create }), contract({ ...list, ...create })),
)
assert.equal(unchanged.status, 200, JSON.stringify(unchanged.answer))
assert.equal(text(unchanged.answer, 'execution_action'), 'CONTINUE')
const token = text(unchanged.answer, 'chain_receipt')

const context = { operation: 'deploy', environment: 'production' }
const verified = await post('/api/v1/verify-receipt', { token, context })
assert.equal(member(verified.answer, 'currently_authorized'), true, JSON.stringify(verified.answer))
const elsewhere = await post('/api/v1/verify-receipt', { token, context: { ...context, operation: 'merge' } })
assert.equal(member(elsewhere.answer, 'currently_authorized'), false, 'a receipt holds for one operation only')

const keys = join(file, '../jwks.json')
writeFileSync(keys, await (await fetch(`${api}/.well-known/jwks.json`)).text())
execFileSync(
  process.execPath,
  ['gateway/preflight.js', 'verify', token, '--keys', keys, '--operation', 'deploy', '--environment', 'production'],
  { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] },
)

const broken = await post('/api/v1/preflight', authorize(contract({ ...list, ...create }), contract(list)))
assert.equal(text(broken.answer, 'execution_action'), 'STOP', JSON.stringify(broken.answer))

process.stdout.write(`served on ${api}: CONTINUE with a receipt that verifies, STOP on a removed operation\n`)
