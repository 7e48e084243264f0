/** Proof that a tenant controls a repository (docs/reference/api.md#bindings): a file with a secret of ours on its default branch. */
import { randomBytes, randomUUID } from 'node:crypto'
import { GatewayError } from '../errors/errors.ts'
import type { BindingRow, ChallengeRow } from '../store/bindings.ts'
import type { StorePart } from '../store/store.ts'
import { isRepositoryName, type ScmAccess, type ScmAddress } from './access.ts'
import type { ScmClient, PlatformId } from './platform.ts'
import { ScmError } from './scm-error.ts'

export const MARKER_PATH = '.preflight-bind'

interface BindingDeps {
  readonly store: StorePart<'bindings.challenge' | 'bindings.openChallenge' | 'bindings.record'>
  readonly scm: ScmAccess
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** @param validity milliseconds */
export async function openChallenge(
  tenant: string,
  address: ScmAddress,
  validity: number,
  { store, now }: BindingDeps,
): Promise<ChallengeRow> {
  if (!isRepositoryName(address))
    throw new GatewayError('INVALID_INPUT', undefined, {
      details: [{ pointer: '/repository', message: 'is not a name of a repository there; write owner/name' }],
    })
  const createdAt = now()
  const row: ChallengeRow = {
    challengeId: `chl_${randomUUID().replaceAll('-', '')}`,
    tenant,
    ...address,
    marker: `preflight-bind v1 ${randomBytes(32).toString('base64url')}\n`,
    createdAt,
    expiresAt: createdAt + validity,
  }
  await store.bindings.openChallenge(row)
  return row
}

interface Prover {
  readonly tenant: string
  readonly audience: string
  /** X-SCM-Token of the request. */
  readonly token: string | null
}

/** @throws GatewayError NOT_FOUND, BINDING_NOT_PROVEN or REPOSITORY_INACCESSIBLE */
export async function proveBinding(
  challengeId: string,
  { tenant, audience, token }: Prover,
  { store, scm, now }: BindingDeps,
): Promise<BindingRow> {
  const challenge = await store.bindings.challenge(tenant, challengeId)
  if (challenge === null) throw new GatewayError('NOT_FOUND')
  if (now() >= challenge.expiresAt) throw notProven('the challenge has expired; ask for a new one')
  const repository = await inaccessible(() => scm.use(challenge, token, (client) => checkMarker(client, challenge)))
  const row = { tenant, platform: challenge.platform, repository, provenAt: now(), provenBy: audience }
  await store.bindings.record(row)
  return row
}

/** Name of the repository as the platform writes it. */
async function checkMarker(client: ScmClient, { repository, marker }: ChallengeRow): Promise<string> {
  const { name, defaultBranch } = await client.facts()
  if (!sameRepository(name, repository))
    throw notProven(`the repository is called ${name} now; ask for a challenge for that`)
  const file = await client.file(MARKER_PATH, await client.branchTip(defaultBranch))
  if (file.kind !== 'text') throw notProven(`there is no ${MARKER_PATH} on ${defaultBranch}`)
  if (file.text.trim() !== marker.trim())
    throw notProven(`${MARKER_PATH} on ${defaultBranch} does not hold what the challenge asks for`)
  return name
}

function notProven(why: string): GatewayError {
  return new GatewayError('BINDING_NOT_PROVEN', `The binding is not proven: ${why}.`)
}

/** A platform that does not answer, or not for this credential, as the error of the API; in its own words. */
async function inaccessible<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof ScmError)) throw error
    const { 'retry-after': retryAfter } = error.headers
    throw new GatewayError('REPOSITORY_INACCESSIBLE', `The repository cannot be read: ${error.message}.`, {
      cause: error,
      ...(retryAfter !== undefined && { headers: { 'Retry-After': retryAfter } }),
    })
  }
}

/** Names of repositories differ by case in no platform. */
function sameRepository(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

/**
 * The binding of a repository, or null when none is proven. Without a platform it is found by the name alone, and only where
 * the name identifies one repository. The platform is never guessed.
 */
export async function bindingOf(
  store: StorePart<'bindings.list'>,
  tenant: string,
  repository: string,
  platform: PlatformId | null,
): Promise<BindingRow | null> {
  const [only, ...others] = (await store.bindings.list(tenant)).filter(
    (row) => sameRepository(row.repository, repository) && (platform === null || row.platform === platform),
  )
  return only !== undefined && others.length === 0 ? only : null
}

/** ISO 8601 UTC. */
export function provenAt({ provenAt: at }: BindingRow): string {
  return new Date(at).toISOString()
}
