/**
 * Calls to a source-control platform that are judged. The change set is derived from the platform itself, with the
 * credentials of the call. These are used for the gateway's own requests only and never stored. All other calls on such
 * a route pass.
 */
import type { ScmRoute } from './settings.ts'
import { posix } from 'node:path'
import { GatewayError } from '../../errors/errors.ts'
import type { Flow } from '../../flow/flow.ts'
import type { Upstreams } from '../../upstream/pools.ts'
import { PLATFORMS, type PlatformId, type ScmClient } from '../../scm/platform.ts'
import { ScmError } from '../../scm/scm-error.ts'
import { createScmTransport, type ScmTransport } from '../../scm/transport.ts'
import type { ScmConfig } from '../../scm/settings.ts'
import {
  UpstreamRefusal,
  type Action,
  type JudgedAction,
  type PassingAction,
  type ResourceCheck,
  type Refusal,
} from '../common/action.ts'
import type { Answer, AnswerWatcher } from '../../calls/answer.ts'
import type { Call } from '../../calls/call.ts'
import { UnreadableIntent, type ScmIntent } from './intent.ts'
import { type ContractTexts, derivationTerms } from '../../scm/selector.ts'
import { fold } from '../../routing/path-reading.ts'
import { httpRefusal, passingAction, stoppedAction } from '../common/refusal.ts'
import { pinnedCheck, type PinnedCheck } from './checks.ts'

export interface ScmDeps {
  readonly upstreams: Upstreams
  readonly flow: ContractTexts & Pick<Flow, 'readJson'>
  readonly config: () => ScmConfig
  /** ISO 8601; null: not proven. */
  readonly provenAt: (tenant: string, platform: PlatformId, repository: string) => Promise<string | null>
}

/** How the calls of one platform are read. */
export interface ScmDialect {
  readonly platform: PlatformId
  readonly createClient: (transport: ScmTransport, repository: string) => ScmClient
  /** Path of the API's root before the segments that were recognised. */
  readonly prefix: string
  /** What the call would do; none: nothing that is judged after all. May ask the platform. @throws UnreadableIntent */
  readonly intents: () => Promise<readonly ScmIntent[]>
  /** Of the call, in words for the log: `PUT /repos/acme/pets/pulls/7/merge`. */
  readonly name: string
}

export function passingScmCall(name: string): PassingAction {
  return passingAction(name, httpRefusal)
}

/** The gateway answers: the call has no reading, or the route does not allow it. */
export function refusedScmCall(call: Call<ScmRoute>, name: string, message: string): Action {
  return stoppedAction(call, { name, message: `Preflight stopped this call: ${message}`, why: message }, httpRefusal)
}

/**
 * Branches that files reach by a judged merge only. Letters of the other case count as the same branch: on a file system that
 * ignores case, both names are one ref.
 */
export function isProtected({ route }: Pick<Call<ScmRoute>, 'route'>, branch: string | null): boolean {
  // What git takes for no name of a branch is some revision: which branch the platform makes of it is not known.
  if (branch === null || NO_BRANCH_NAME.test(branch)) return true
  return isNamed(route.scm.protected_branches, [branch, branch.replace(/^(?:refs\/)?heads\//i, '')])
}

/** Tags whose move is judged and whose deletion needs a receipt, read like branches. */
export function isProtectedTag({ route }: Pick<Call<ScmRoute>, 'route'>, tag: string): boolean {
  return NO_BRANCH_NAME.test(tag) || isNamed(route.scm.protected_tags, [tag])
}

/** In letters of any case. */
function isNamed(globs: readonly string[], names: readonly string[]): boolean {
  const spellings = new Set(names.flatMap((name) => [name, fold(name)]))
  return globs.some((glob) =>
    [...spellings].some((name) => posix.matchesGlob(name, glob) || posix.matchesGlob(name, fold(glob))),
  )
}

/** git-check-ref-format, and the names by which git means another one. */
const NO_BRANCH_NAME = /[\s\p{Cc}~^:?*[\\]|\.\.|@\{|\/\/|^\/|\/$|^(?:@|HEAD)$/u

export class ScmAction implements JudgedAction {
  readonly kind = 'judge'
  readonly #call: Call<ScmRoute>
  readonly #dialect: ScmDialect
  readonly #deps: ScmDeps
  #asked: readonly PinnedCheck[] = []

  constructor(call: Call<ScmRoute>, dialect: ScmDialect, deps: ScmDeps) {
    this.#call = call
    this.#dialect = dialect
    this.#deps = deps
  }

  get name(): string {
    return this.#dialect.name
  }

  gather(): Promise<readonly ResourceCheck[]> {
    return this.#telling(async () => {
      const { platform, prefix, createClient, intents } = this.#dialect
      const transport = transportFor(this.#call, { platform, prefix }, this.#deps)
      const derivation = derivationTerms(this.#deps.config(), this.#deps.flow)
      const { tenant } = this.#call.caller
      const provenAt = (repository: string) => this.#deps.provenAt(tenant, platform, repository)
      const asked: PinnedCheck[] = []
      for (const intent of await intents()) {
        asked.push(
          await pinnedCheck(intent, createClient(transport, intent.repository), {
            derivation,
            provenAt,
            isProtected: (branch) => isProtected(this.#call, branch),
          }),
        )
      }
      this.#asked = asked
      return asked.map(({ check }) => check)
    })
  }

  /** Checks that the call would still do what was judged: looked up again immediately before the call is sent. */
  confirm(): Promise<boolean> {
    return this.#telling(async () => {
      for (const { confirm } of this.#asked) await confirm()
      return true
    })
  }

  watch(): AnswerWatcher | null {
    return null
  }

  refuse(refusal: Refusal): Answer {
    return httpRefusal(refusal)
  }

  async #telling<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (error) {
      throw publicError(error)
    }
  }
}

/** The platform behind the route, asked with the credentials of the call. */
export function transportFor(
  call: Call<ScmRoute>,
  { platform, prefix }: Pick<ScmDialect, 'platform' | 'prefix'>,
  { config, upstreams, flow }: Pick<ScmDeps, 'config' | 'upstreams' | 'flow'>,
): ScmTransport {
  const { scm, limits } = config()
  return createScmTransport({
    title: PLATFORMS[platform].title,
    prefix,
    timeout: scm.timeout * 1000,
    readJson: (bytes) => flow.readJson(bytes, 'answer'),
    maxBytes: Math.max(limits.artifact_side, limits.proxied_body),
    maxRequests: scm.max_requests,
    send: ({ headers, ...request }) =>
      upstreams.ownRequestsOf(call).request({ ...request, headers: { ...credentials(call), ...headers } }),
  })
}

/** Only the credentials of the call. */
const CREDENTIALS = ['authorization', 'private-token', 'job-token', 'cookie', 'x-github-api-version'] as const
/** GitLab takes a token in the query too. */
const QUERY_CREDENTIALS = {
  private_token: 'private-token',
  job_token: 'job-token',
  access_token: 'authorization',
} as const

function credentials({ headers, upstreamPath, correlationId }: Call<ScmRoute>): Readonly<Record<string, string>> {
  const own: Record<string, string> = {
    'user-agent': headers['user-agent'] ?? 'preflight-gateway',
    'x-correlation-id': correlationId,
  }
  for (const name of CREDENTIALS) {
    const value = headers[name]
    if (value !== undefined) own[name] = String(value)
  }
  const query = new URLSearchParams(upstreamPath.split('?').slice(1).join('?'))
  for (const [parameter, name] of Object.entries(QUERY_CREDENTIALS)) {
    const value = query.get(parameter)
    if (value !== null && own[name] === undefined) own[name] = name === 'authorization' ? `Bearer ${value}` : value
  }
  return own
}

function publicError(error: unknown): unknown {
  if (error instanceof UnreadableIntent) return new GatewayError('PREFLIGHT_UNDECIDED', error.message, { cause: error })
  if (!(error instanceof ScmError)) return error
  const isForCaller = (error.kind === 'refused' || error.kind === 'limited') && error.status !== null
  if (isForCaller && error.status !== null) return new UpstreamRefusal(error.status, error.headers)
  return new GatewayError('PREFLIGHT_UNDECIDED', `What this would change could not be derived: ${error.message}.`, {
    cause: error,
  })
}
