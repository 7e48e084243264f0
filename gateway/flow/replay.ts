/**
 * Makes a logged decision again, under this or another policy, from its stored input. The replay is exact or it is refused: it
 * reports input that is missing or does not match the ledger, and never guesses.
 */
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Static, Type } from 'typebox'
import {
  changeSetDigests,
  decide,
  judgeChangeSet,
  ok,
  rulesetHash,
  type Artifact,
  type ArtifactAnalysis,
  type CompiledPolicy,
  type CompletenessFacts,
  type DecideInput,
  type DeclaredConsumer,
  type JudgedChangeSet,
  type Result,
  type Verdict,
  fail,
} from '../../engine/internal.ts'
import { digestInThread, sha256Hex } from '../runtime/hash.ts'
import type { StorePart } from '../store/store.ts'
import type { StoredDecision } from '../store/decisions.ts'
import type { Flow } from './flow.ts'
import { eachFile } from './input-store.ts'
import { KeptConsumers, KeptDecision } from './stored-input.ts'
import { compareOptions } from './analyst.ts'

export interface Replaying {
  readonly policy: CompiledPolicy
  readonly flow: Pick<Flow, 'compare'>
  readonly store: StorePart<'inputs.byDecision' | 'inputs.content'>
}

const unpacked = promisify(gunzip)

/** A change set as it was decided on, with its context. */
interface KeptChangeSet {
  readonly kept: KeptDecision
  /** With the texts; artifacts that were not analysed then are in `kept.failed`. */
  readonly artifacts: readonly Artifact[]
}

/** The input of a logged decision, or the reason why there is none. */
export async function keptChangeSet(
  decisionId: string,
  store: Replaying['store'],
): Promise<Result<KeptChangeSet, string>> {
  const text = await store.inputs.byDecision(decisionId)
  if (text === null) return fail('its input was not kept (ledger.inputs was 0, or it was decided by an older version)')
  const kept = await readKeptDecision(text)
  if (kept === null) return fail('its input was kept in a form that this version does not know')
  const artifacts = await keptArtifacts(kept, store)
  return artifacts.ok ? ok({ kept, artifacts: artifacts.value }) : artifacts
}

type ReplayedRow = Pick<StoredDecision, 'decisionId' | 'inputFingerprint'> & { readonly policyHash: string | null }

/** The verdict of `policy` on the input of a logged decision, or the reason why there is none. */
export async function replay(row: ReplayedRow, replaying: Replaying): Promise<Result<Verdict, string>> {
  const input = await inputAgain(row, replaying)
  return input.ok ? ok(decide(input.value)) : input
}

/** What `policy` makes of each change of a logged decision, or the reason why it cannot be known. */
export async function judgedAgain(row: ReplayedRow, replaying: Replaying): Promise<Result<JudgedChangeSet, string>> {
  const input = await inputAgain(row, replaying)
  return input.ok ? ok(judgeChangeSet(input.value.analyses, input.value)) : input
}

async function inputAgain(row: ReplayedRow, { policy, flow, store }: Replaying): Promise<Result<DecideInput, string>> {
  const found = await keptChangeSet(row.decisionId, store)
  if (!found.ok) return found
  const { kept, artifacts } = found.value
  const identity = changeSetDigests(artifacts, sha256Hex)
  if (identity.inputFingerprint !== row.inputFingerprint)
    return fail('the stored input does not match the hash of the input in the ledger')
  const consumers = await keptConsumers(kept, store)
  if (!consumers.ok) return consumers
  const isSamePolicy = row.policyHash === policy.hash
  const input: DecideInput = {
    analyses: await analysesOf(kept, artifacts, policy, flow),
    context: kept.context,
    policy,
    scope: kept.scope,
    route: kept.route,
    ...(kept.release !== undefined && { release: kept.release }),
    consumers: consumers.value,
    history: kept.history,
    ...identity,
    rulesetHash: rulesetHash(sha256Hex),
    // A pin and a grant belong to one policy: under another they do not apply.
    policyPin: isSamePolicy ? kept.policy_pin : null,
    ...(kept.derived !== undefined && { completeness: derivedWith(kept.derived) }),
    now: kept.now,
    sha256: sha256Hex,
  }
  const grant = isSamePolicy ? kept.grant : null
  return ok(grant === null ? input : { ...input, approval: { state: 'granted', ...grant } })
}

async function analysesOf(
  { artifacts: kept, failed, now }: KeptDecision,
  artifacts: readonly Artifact[],
  policy: CompiledPolicy,
  flow: Replaying['flow'],
): Promise<readonly ArtifactAnalysis[]> {
  const options = compareOptions(policy, now * 1000)
  const isFailed = (id: string) => failed.some((row) => row.id === id)
  const analysed = artifacts
    .filter(({ id }) => !isFailed(id) && kept.some((row) => row.id === id))
    .map(async (artifact): Promise<ArtifactAnalysis> => {
      const { id, type } = artifact
      const result = await flow.compare(artifact, options)
      return result.ok
        ? { id, type, ok: true, comparison: result.value }
        : { id, type, ok: false, problem: result.problem }
    })
  return [...(await Promise.all(analysed)), ...failed.map((row) => ({ ...row, ok: false }) as const)]
}

async function keptArtifacts(
  { artifacts }: KeptDecision,
  store: Replaying['store'],
): Promise<Result<readonly Artifact[], string>> {
  const found: Artifact[] = []
  for (const { before, after, files, ...artifact } of artifacts) {
    let isWhole = true
    const textOf = async (digest: string): Promise<string> => {
      const text = await keptContent(digest, store)
      isWhole &&= text !== null
      return text ?? ''
    }
    const sides = { before: await textOf(before), after: await textOf(after) }
    const further = files === undefined ? {} : { files: await eachFile(files, textOf) }
    if (!isWhole) return fail(`the contract of ${artifact.id} is no longer kept (raise ledger.inputs to keep more)`)
    found.push({ ...artifact, ...sides, ...further })
  }
  return ok(found)
}

async function keptConsumers(
  { consumers }: KeptDecision,
  store: Replaying['store'],
): Promise<Result<readonly DeclaredConsumer[], string>> {
  if (consumers === null) return ok([])
  const text = await keptContent(consumers, store)
  const read = text === null ? null : await readKept(KeptConsumers, text)
  return read === null
    ? fail('the consumers declared then are no longer kept (raise ledger.inputs to keep more)')
    : ok(read)
}

/** Null when it is missing, or does not match its digest. */
async function keptContent(digest: string, store: Replaying['store']): Promise<string | null> {
  const packed = await store.inputs.content(digest)
  if (packed === null) return null
  const text = (await unpacked(packed)).toString('utf8')
  return (await digestInThread(text)) === digest ? text : null
}

/** A stored input; null when the text has no form that this version knows. */
export function readKeptDecision(text: string): Promise<KeptDecision | null> {
  return readKept(KeptDecision, text)
}

async function readKept<Schema extends Type.TSchema>(schema: Schema, text: string): Promise<Static<Schema> | null> {
  // Loaded here, because each command first loads the modules of every command.
  const { Check } = await import('typebox/value')
  const value: unknown = JSON.parse(text)
  return Check(schema, value) ? value : null
}

/** The parts of the change set's origin that a verdict depends on. */
function derivedWith({ problem, diverged }: NonNullable<KeptDecision['derived']>): CompletenessFacts {
  return {
    origin: { kind: 'derived', derivation: null, commitment: null, problem },
    bindingProvenAt: null,
    selectorHash: null,
    ...(diverged !== undefined && { reconciliation: { result: 'DIVERGED', difference: diverged } }),
  }
}
