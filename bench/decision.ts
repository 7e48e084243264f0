/**
 * A decision in process when the comparison is already known: verdict and envelope, without and with the signature. The
 * contracts are a small MCP manifest, unchanged and with a breaking change, under the default policy.
 */
import { createHash, createPrivateKey, generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createHistogram, performance } from 'node:perf_hooks'
import { parse } from 'yaml'
import {
  changeSetDigests,
  buildEnvelope,
  compare,
  compilePolicy,
  decide,
  digestText,
  EMPTY_CONTEXT,
  issueReceipt,
  type Artifact,
  type DecideInput,
  type EnvelopeDraft,
  type Sha256,
  type Signer,
} from '../engine/internal.ts'
import { TOOL } from './proxy/payload.ts'
import { table, type Section } from './report.ts'

const WARMUP = 2000
const ROUNDS = 5000

const sha256: Sha256 = (text) => createHash('sha256').update(text).digest('hex')

function testSigner(): Signer {
  const key = createPrivateKey(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }))
  return { keyId: 'bench', sign: (input) => sign(null, Buffer.from(input), key).toString('base64url') }
}

function inputOf(artifact: Artifact): DecideInput {
  const pack: unknown = parse(readFileSync(join(import.meta.dirname, '../policies/default/pack.yaml'), 'utf8'))
  const policy = compilePolicy(pack, sha256)
  if (!policy.ok) throw new Error(policy.problem.map(({ message }) => message).join('\n'))
  const comparison = compare(artifact, {}, sha256)
  if (!comparison.ok) throw new Error(comparison.problem.message)
  return {
    analyses: [{ id: artifact.id, type: artifact.type, ok: true, comparison: comparison.value }],
    context: { ...EMPTY_CONTEXT, operation: 'tool_call' },
    policy: policy.value,
    scope: { tool: TOOL.name },
    ...changeSetDigests([artifact], sha256),
    rulesetHash: digestText('rules of the bench', sha256),
    policyPin: null,
    now: 1_800_000_000,
    sha256,
  }
}

function decideOnce(input: DecideInput): EnvelopeDraft {
  return buildEnvelope(decide(input), {
    decisionId: 'dec_bench',
    correlationId: 'bench',
    evaluatedAt: input.now,
    audience: null,
    decisionSpecVersion: '2.0',
    reportUrl: null,
  })
}

/** Microseconds: p50 and p99 of single rounds. */
function timed(round: () => unknown): { readonly p50: number; readonly p99: number } {
  for (let index = 0; index < WARMUP; index += 1) round()
  const histogram = createHistogram()
  for (let index = 0; index < ROUNDS; index += 1) {
    const start = performance.now()
    round()
    histogram.record(Math.max(1, Math.round((performance.now() - start) * 1e6)))
  }
  return { p50: histogram.percentile(50) / 1000, p99: histogram.percentile(99) / 1000 }
}

export function decisionSection(): Promise<Section> {
  const before = JSON.stringify({ tools: [TOOL] })
  const changed = { ...TOOL, inputSchema: { ...TOOL.inputSchema, required: ['text', 'locale'] } }
  const manifest = { id: 'bench', type: 'mcp_manifest', before } as const
  const unchanged = inputOf({ ...manifest, after: before })
  const breaking = inputOf({ ...manifest, after: JSON.stringify({ tools: [changed] }) })
  const signer = testSigner()
  const issue = { tenant: 'local', issuer: 'bench', previous: null, status: null }
  const allow = timed(() => decideOnce(unchanged))
  const rows = [
    ['contract unchanged, without signing', allow],
    ['breaking change, without signing', timed(() => decideOnce(breaking))],
    ['contract unchanged, receipt signed', timed(() => issueReceipt(decideOnce(unchanged), signer, sha256, issue))],
  ] as const
  const markdown = table(
    ['', 'p50 µs', 'p99 µs'],
    rows.map(([name, { p50, p99 }]) => [name, p50.toFixed(1), p99.toFixed(1)]),
  )
  return Promise.resolve({ markdown, checks: [{ threshold: 'decision_cached_us', measured: allow.p50 }] })
}
