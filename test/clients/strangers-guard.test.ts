/**
 * A guard of a stranger: written from the published rules alone (docs/reference/hashes.md, docs/reference/envelope.md), with nothing
 * of this project. It executes an ALLOW or a WARN when the answer is about exactly what it holds.
 */
import assert from 'node:assert/strict'
import { createHash, createPublicKey, verify } from 'node:crypto'
import { describe, it } from 'node:test'
import { compilePolicy, type CompiledPolicy } from '../../engine/internal.ts'
import { sha256Hex } from '../../gateway/runtime/hash.ts'
import { startApi, type ApiFake } from '../fakes/api.ts'
import { manifest, PETS, PETS_REORDERED, PETS_WITH_POST, PETS_WITHOUT_DELETE } from '../fakes/contracts.ts'
import { at, textAt } from '../json.ts'

interface Held {
  readonly id: string
  readonly type: string
  readonly before: string
  readonly after: string
}

const sha = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex')
const compared = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

/** Digests of both sides one after the other, by type as it was sent and id, joined by U+001F. */
function digestOfHeld(artifacts: readonly Held[]): string {
  const sorted = artifacts.toSorted((a, b) => compared(a.type, b.type) || compared(a.id, b.id))
  return `sha256:${sha(sorted.map(({ before, after }) => sha(before) + sha(after)).join('\u{1F}'))}`
}

/** RFC 8785: members by code units, numbers and texts as JSON.stringify writes them. */
function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).toSorted(([a], [b]) => compared(a, b))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalText(member)}`).join(',')}}`
}

/** Why the guard does not execute; null: it does. */
function objection(answer: unknown, keys: unknown, held: readonly Held[], operation: string): string | null {
  const result = at(answer, 'decision_result')
  const action = at(result, 'execution_action')
  if (action !== 'CONTINUE' && action !== 'CONTINUE_WITH_MONITORING') return `the action is ${String(action)}`
  if (at(result, 'artifact_digest') !== digestOfHeld(held)) return 'the answer is about other contents'
  const [head = '', body = '', signature = ''] = textAt(result, 'receipt', 'token').split('.')
  const parsed = [head, body].map((part): unknown => JSON.parse(Buffer.from(part, 'base64url').toString('utf8')))
  const listed: unknown = at(keys, 'keys')
  const known: readonly unknown[] = Array.isArray(listed) ? listed : []
  const jwk = known.find((key) => at(key, 'kid') === at(parsed[0], 'kid'))
  if (jwk === undefined || at(parsed[0], 'alg') !== 'EdDSA') return 'nobody known signed it'
  const key = createPublicKey({
    key: { kty: textAt(jwk, 'kty'), crv: textAt(jwk, 'crv'), x: textAt(jwk, 'x') },
    format: 'jwk',
  })
  if (!verify(null, Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url')))
    return 'the signature is wrong'
  const claims = parsed[1]
  if (at(claims, 'ad') !== at(result, 'artifact_digest')) return 'the receipt is about other contents'
  if (at(claims, 'op') !== operation || at(claims, 'act') !== action) return 'the receipt is for another operation'
  const { receipt: _receipt, decision_body_hash: stated, ...covered } = { ...Object(result) }
  return stated === `sha256:${sha(canonicalText(covered))}` && at(claims, 'bh') === stated
    ? null
    : 'the envelope was changed'
}

function warningPolicy(): CompiledPolicy {
  const compiled = compilePolicy(
    {
      apiVersion: 'preflight.dev/v1',
      kind: 'Policy',
      metadata: { name: 'warns' },
      rules: [{ id: 'warns', when: "finding.level == 'breaking'", then: 'WARN' }],
    },
    sha256Hex,
  )
  return compiled.ok ? compiled.value : assert.fail('the policy compiles')
}

const one = (after: string, id = 'pets', type = 'openapi'): Held => ({ id, type, before: PETS, after })

/** The type counts as it was sent: `mcp` is before `mcp_manifest`. */
const tools = (id: string, type: string): Held => ({
  id,
  type,
  before: manifest(['search']),
  after: manifest(['search']),
})

const CASES: readonly (readonly [what: string, decision: string, held: readonly Held[]])[] = [
  ['nothing changed', 'ALLOW', [one(PETS)]],
  ['the order of members changed', 'ALLOW', [one(PETS_REORDERED)]],
  ['an operation came', 'ALLOW', [one(PETS_WITH_POST)]],
  ['several artifacts, out of order', 'ALLOW', [one(PETS, 'z'), one(PETS_WITH_POST, 'a'), one(PETS, 'Z')]],
  ['types by their other names', 'ALLOW', [tools('b', 'mcp_manifest'), one(PETS_WITH_POST, 'c'), tools('a', 'mcp')]],
  ['an operation is gone, and the policy warns', 'WARN', [one(PETS_WITHOUT_DELETE)]],
  ['a warning among several artifacts', 'WARN', [one(PETS, 'same'), one(PETS_WITHOUT_DELETE, 'gone')]],
]

async function asked(api: ApiFake, path: string, artifacts: readonly Held[]): Promise<unknown> {
  return (await api.post(path, { preflight_mode: 'authorize', artifacts, context: { operation: 'merge' } })).body
}

describe('the guard of a stranger', () => {
  for (const [what, decision, held] of CASES)
    for (const path of ['/api/v1/preflight', '/api/v1/agent/preflight'])
      it(`executes: ${what} (${path})`, async (t) => {
        const api = await startApi({ policy: warningPolicy() })
        t.after(() => api.close())
        const answer = await asked(api, path, held)
        assert.equal(at(answer, 'decision_result', 'decision'), decision, JSON.stringify(answer))
        const keys = (await api.get('/.well-known/jwks.json')).body
        assert.equal(objection(answer, keys, held, 'merge'), null)
        const others = held.map((artifact, index) =>
          index === 0 ? { ...artifact, after: `${artifact.after} ` } : artifact,
        )
        assert.equal(objection(answer, keys, others, 'merge'), 'the answer is about other contents')
        assert.equal(objection(answer, keys, held, 'deploy'), 'the receipt is for another operation')
      })
})
