/**
 * Stores the inputs of decisions in the background: no decision waits for it or fails with it. The replay reports an input that
 * could not be stored.
 */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { lengthOf } from '../../engine/base.ts'
import type { ArtifactFiles, CompletenessFacts, DecideInput, Problem } from '../../engine/internal.ts'
import { digestInThread } from '../runtime/hash.ts'
import type { MemoryBudget } from '../runtime/memory-budget.ts'
import type { CurrentFlowSettings } from './settings.ts'
import type { StorePart } from '../store/store.ts'
import type { Logger } from '../telemetry/log.ts'
import type { AuthorizeRequest } from './flow.ts'
import type { KeptDecision } from './stored-input.ts'

interface InputKeeperDeps {
  readonly settings: CurrentFlowSettings
  readonly store: StorePart<'inputs.keep' | 'inputs.keepContent'>
  /** Inputs that wait to be stored are held in memory. */
  readonly memory: Pick<MemoryBudget, 'tryTake'>
  readonly logger: Logger
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

export interface InputKeeper {
  /** @param input of the decision, with the approval */
  keep(decisionId: string, request: AuthorizeRequest, input: DecideInput): void
  /** Resolves when every pending input is stored. */
  close(): Promise<void>
}

const packed = promisify(gzip)

export function createInputKeeper({ settings, store, memory, logger, now }: InputKeeperDeps): InputKeeper {
  const underWay = new Set<Promise<void>>()

  const keepNow = async (decisionId: string, request: AuthorizeRequest, input: DecideInput): Promise<void> => {
    const { decision, texts } = await keptDecision(request, input)
    const at = now()
    const missing = await store.inputs.keep({
      decisionId,
      input: JSON.stringify(decision),
      digests: [...texts.keys()],
      at,
    })
    for (const digest of missing) {
      const text = texts.get(digest)
      if (text === undefined) continue
      const { inputs: bound } = settings().config.ledger
      await store.inputs.keepContent({ digest, packed: await packed(text) }, at, bound)
    }
  }

  return {
    keep(decisionId, request, input) {
      if (settings().config.ledger.inputs === 0) return
      const size = request.artifacts.reduce((sum, artifact) => sum + lengthOf(artifact), 0)
      const lease = memory.tryTake('body', size)
      if (lease === null) {
        logger.warn(
          { event: 'input.not_stored', decision_id: decisionId, bytes: size },
          'input of a decision not stored: no memory is free for it',
        )
        return
      }
      const keeping = keepNow(decisionId, request, input)
        .catch((error: unknown) => {
          logger.warn(
            { event: 'input.store_failed', err: error, decision_id: decisionId },
            'input of a decision could not be stored',
          )
        })
        .finally(() => {
          lease.release()
          underWay.delete(keeping)
        })
      underWay.add(keeping)
    },
    async close() {
      await Promise.all(underWay)
    },
  }
}

interface HeldInput {
  readonly decision: KeptDecision
  /** By digest. */
  readonly texts: ReadonlyMap<string, string>
}

async function keptDecision(request: AuthorizeRequest, input: DecideInput): Promise<HeldInput> {
  const texts = new Map<string, string>()
  const named = async (text: string): Promise<string> => {
    const digest = await digestInThread(text)
    texts.set(digest, text)
    return digest
  }
  const artifacts: KeptDecision['artifacts'] = []
  for (const { id, type, path, before, after, files } of request.artifacts) {
    const sides = { before: await named(before), after: await named(after) }
    const further = files === undefined ? {} : { files: await eachFile(files, named) }
    artifacts.push({ id, type, ...(path !== undefined && { path }), ...sides, ...further })
  }
  const { consumers = [], history = [], approval, completeness, release = null } = input
  const decision: KeptDecision = {
    version: 1,
    artifacts,
    failed: input.analyses.flatMap((analysis) => (analysis.ok ? [] : [failedRow(analysis)])),
    context: { ...input.context },
    scope: scopeRow(input.scope),
    route: input.route ?? null,
    ...(release !== null && { release: { ...release } }),
    consumers: consumers.length === 0 ? null : await named(JSON.stringify(consumers)),
    history: [...history],
    grant:
      approval?.state === 'granted' ? { id: approval.id, approver: approval.approver, until: approval.until } : null,
    policy_pin: input.policyPin,
    ...(completeness?.origin.kind === 'derived' && { derived: derivedRow(completeness, completeness.origin.problem) }),
    now: input.now,
  }
  return { decision, texts }
}

function derivedRow(
  { reconciliation }: CompletenessFacts,
  problem: Problem | null,
): NonNullable<KeptDecision['derived']> {
  return { problem, ...(reconciliation?.result === 'DIVERGED' && { diverged: reconciliation.difference }) }
}

/** The same files, each text mapped by `change`. */
export async function eachFile(
  files: ArtifactFiles,
  change: (text: string) => Promise<string>,
): Promise<ArtifactFiles> {
  const changed = await Promise.all(
    Object.entries(files).map(async ([path, file]) => {
      if (typeof file === 'string') return [path, await change(file)] as const
      const { before, after } = file
      const sides = {
        ...(before !== undefined && { before: await change(before) }),
        ...(after !== undefined && { after: await change(after) }),
      }
      return [path, sides] as const
    }),
  )
  return Object.fromEntries(changed)
}

function scopeRow(scope: DecideInput['scope']): KeptDecision['scope'] {
  if (scope !== null && 'path' in scope) {
    const { files, ...place } = scope
    return files === undefined ? place : { ...place, files: [...files] }
  }
  if (scope === null || !('touches' in scope)) return scope
  return { ...scope, fields: [...scope.fields], touches: [...scope.touches] }
}

function failedRow({
  id,
  type,
  problem,
}: Extract<DecideInput['analyses'][number], { readonly ok: false }>): KeptDecision['failed'][number] {
  return { id, type, problem }
}
