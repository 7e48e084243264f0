/** The change set of a preflight: submitted by the caller or listed by the gateway, and whether it is known to be complete. */
import type { Static } from 'typebox'
import { textOn } from '../../engine/base.ts'
import type { Artifact, CompletenessFacts, DecisionContext } from '../../engine/internal.ts'
import { GatewayError } from '../errors/errors.ts'
import type { AnalyzeRequest } from '../flow/flow.ts'
import { digestInThread } from '../runtime/hash.ts'
import { bindingOf, provenAt } from '../scm/bindings.ts'
import { changeSetCommitment, type CommittedFile } from '../scm/commitment.ts'
import { derivedCompleteness, deriveChangeSet } from '../scm/derivation.ts'
import { derivationTerms } from '../scm/selector.ts'
import { PLATFORMS, type PlatformId, type ScmClient } from '../scm/platform.ts'
import { LISTING_PROBLEMS } from '../scm/problems.ts'
import { ScmError } from '../scm/scm-error.ts'
import type { BindingRow } from '../store/bindings.ts'
import { requestedContext } from './change-set.ts'
import type { ApiDeps } from './deps.ts'
import { callerOf, type RouteExchange } from './route.ts'
import type { PreflightRequest } from './schemas/preflight.ts'
import { scmToken } from './identity.ts'

type SubmittedRequest = Static<typeof PreflightRequest>

export type ChangeSet = Pick<AnalyzeRequest, 'artifacts' | 'unreadable' | 'completeness'>

/** Artifacts that the caller vouches for, by naming their repository. */
export async function submittedSet(
  exchange: RouteExchange<SubmittedRequest>,
  artifacts: readonly Artifact[],
  { store }: Pick<ApiDeps, 'store'>,
): Promise<ChangeSet> {
  const context = requestedContext(exchange.body.context)
  if (context.repository === null) return { artifacts }
  const binding = await bindingOf(store, callerOf(exchange).tenant, context.repository, platformOf(exchange.body))
  const files = (await Promise.all(artifacts.map(committed))).flat()
  const completeness: CompletenessFacts = {
    origin: { kind: 'submitted', attested: { root: changeSetCommitment(files), count: files.length } },
    bindingProvenAt: binding === null ? null : provenAt(binding),
    selectorHash: null,
  }
  return { artifacts, completeness }
}

/** The document, and each of its files that differs between the two sides. */
function committed({ id, path = id, before, after, files = {} }: Artifact): Promise<readonly CommittedFile[]> {
  const changed = Object.entries(files).flatMap(([name, file]) => {
    const [base = '', head = ''] = [textOn(file, 'before'), textOn(file, 'after')]
    return base === head ? [] : [committedFile(name, base, head)]
  })
  return Promise.all([committedFile(path, before, after), ...changed])
}

async function committedFile(path: string, before: string, after: string): Promise<CommittedFile> {
  const change = before === '' ? 'added' : after === '' ? 'removed' : 'modified'
  const [base, head] = await Promise.all([hexDigest(before), hexDigest(after)])
  return { path, change, before: base, after: head }
}

async function hexDigest(text: string): Promise<string> {
  return text === '' ? '' : (await digestInThread(text)).replace('sha256:', '')
}

/** The platform that the caller names; null: any platform on which the repository is proven. */
function platformOf({ context }: SubmittedRequest): PlatformId | null {
  const named = context?.platform ?? null
  const ids: readonly PlatformId[] = ['scm_a', 'scm_b', 'scm_c']
  return ids.find((id) => id === named || PLATFORMS[id].name === named) ?? null
}

/**
 * The changes of merging `head` into `base`, listed by the gateway. An unreachable platform leads to a decision too, and never
 * to ALLOW.
 * @throws GatewayError BINDING_NOT_PROVEN, REPOSITORY_INACCESSIBLE, or INVALID_INPUT for a ref that does not exist
 */
export async function derivedSet(exchange: RouteExchange<SubmittedRequest>, deps: ApiDeps): Promise<ChangeSet> {
  const context = requestedContext(exchange.body.context)
  const binding = await requiredBinding(exchange, context, deps)
  const { platform, repository } = binding
  const { config } = exchange.settings
  const terms = derivationTerms(config, deps.flow)
  try {
    return await deps.scm.use({ platform, repository }, scmToken(exchange), async (client) => {
      const derived = await deriveChangeSet(client, await refsOf(client, context), terms)
      const { artifacts, unreadable } = derived
      return { artifacts, unreadable, completeness: derivedCompleteness(derived, provenAt(binding)) }
    })
  } catch (error) {
    if (!(error instanceof ScmError)) throw error
    if (error.kind === 'refused')
      throw new GatewayError('REPOSITORY_INACCESSIBLE', `The repository cannot be read: ${error.message}.`, {
        cause: error,
      })
    deps.logger.warn(
      { event: 'change_set.derivation_failed', err: error, correlation_id: exchange.correlationId },
      'change set could not be derived',
    )
    const problem = LISTING_PROBLEMS.unavailable(error.message)
    const origin = { kind: 'derived', derivation: null, commitment: null, problem } as const
    return {
      artifacts: [],
      completeness: { origin, bindingProvenAt: provenAt(binding), selectorHash: terms.selector.hash },
    }
  }
}

async function requiredBinding(
  exchange: RouteExchange<SubmittedRequest>,
  { repository }: DecisionContext,
  { store }: Pick<ApiDeps, 'store'>,
): Promise<BindingRow> {
  const platform = platformOf(exchange.body)
  const binding = repository === null ? null : await bindingOf(store, callerOf(exchange).tenant, repository, platform)
  if (binding !== null) return binding
  throw new GatewayError(
    'BINDING_NOT_PROVEN',
    'derivation "server" needs context.repository with a proven binding of this tenant (POST /api/v1/bindings/challenge), and context.platform where it is proven on several.',
  )
}

async function refsOf(client: ScmClient, { base, head, pull_request: id }: DecisionContext) {
  const baseSha = await resolvedCommit(client, base ?? '', 'base')
  const headSha = await resolvedCommit(client, head ?? '', 'head')
  const request = id !== null && client.platform === 'scm_a' ? await client.mergeRequest(id) : null
  return { base: baseSha, head: headSha, kind: 'merge', trialMerge: request?.trialMerge ?? null } as const
}

/** A missing branch, tag or commit is the caller's mistake, not an inaccessible repository. */
async function resolvedCommit(client: ScmClient, ref: string, name: string): Promise<string> {
  try {
    return await client.commitOf(ref)
  } catch (error) {
    if (!(error instanceof ScmError) || (error.status !== 404 && error.status !== 422)) throw error
    await client.facts()
    const details = [{ pointer: `/context/${name}`, message: `names no commit of the repository (${error.message})` }]
    throw new GatewayError('INVALID_INPUT', undefined, { details, cause: error })
  }
}
