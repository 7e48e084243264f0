/** `preflight init api` and `init cluster`: a mistake is placed at the option that states the value. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from '../../fakes/command-io.ts'

const CLUSTER = { upstream: 'https://127.0.0.1:6443', ca: '/nowhere/ca.pem', name: 'cluster' }
const API = { upstream: 'https://shop.example', contract: 'https://shop.example/openapi.json', name: 'shop' }

const WRONG: readonly (readonly [command: string, given: Readonly<Record<string, string>>, option: string])[] = [
  ['cluster', CLUSTER, 'ca'],
  ['cluster', { ...CLUSTER, upstream: 'ftp://x' }, 'upstream'],
  ['api', { ...API, upstream: 'shop.example' }, 'upstream'],
  ['api', { ...API, contract: '/nowhere/openapi.json' }, 'contract'],
]

for (const [command, given, option] of WRONG)
  test(`preflight init ${command} names --${option} and its value once`, async () => {
    const options = Object.entries(given).flatMap(([name, value]) => [`--${name}`, value])
    const { code, stderr } = await run(['init', command, ...options])
    assert.equal(code, 2, stderr)
    assert.match(stderr, new RegExp(`\\n  --${option}: `))
    assert.doesNotMatch(stderr, /routes\[0\]/)
    assert.ok(stderr.split(given[option] ?? '').length <= 2, stderr)
  })
