/** The gateway's own access to a repository, for bindings, server derivation and reports at commits: the configured address, and a credential. */
import { openAgent, request, type Agent } from '../network/undici.ts'
import type { Flow } from '../flow/flow.ts'
import type { ScmConfig } from './settings.ts'
import { GatewayError } from '../errors/errors.ts'
import { loadRegularFile } from '../runtime/regular-file.ts'
import { createBitbucketClient } from './bitbucket.ts'
import { publishReport, type CommitPlace, type CommitReport } from './commit-report.ts'
import { createGithubClient } from './github.ts'
import { createAppTokens } from './github-app.ts'
import { createGitlabClient } from './gitlab.ts'
import { PLATFORMS, type PlatformId, type ScmClient } from './platform.ts'
import { createScmTransport, type ScmTransport } from './transport.ts'

export interface ScmAddress {
  readonly platform: PlatformId
  /** `owner/name`. */
  readonly repository: string
}

export interface ScmAccess {
  /**
   * Runs `work` with a client for one repository, and closes its connections.
   * @param token the caller's own (X-SCM-Token); null: that of the installed GitHub App, or the configured one
   * @throws GatewayError REPOSITORY_INACCESSIBLE when there is no credential to ask with
   */
  use<T>(address: ScmAddress, token: string | null, work: (client: ScmClient) => Promise<T>): Promise<T>
  /**
   * Shows a report at a commit, with the credential of the GitHub App or the configured token.
   * @returns id to update it by, for `shown`
   * @throws GatewayError REPOSITORY_INACCESSIBLE, or ScmError
   */
  publish(address: ScmAddress, place: ReportedCommit, report: CommitReport): Promise<string | null>
}

type ReportedCommit = Pick<CommitPlace, 'commit' | 'page' | 'pipeline' | 'shown'>

interface Platform {
  readonly createClient: (transport: ScmTransport, repository: string) => ScmClient
  /** At the API. */
  readonly path: (repository: string) => string
  readonly grammar: RegExp
}

const SEGMENT = '(?!\\.{1,2}(?:/|$))[\\w.-]{1,100}'

const CLIENTS: Readonly<Record<PlatformId, Platform>> = {
  scm_a: {
    createClient: createGithubClient,
    path: (repository) => `/repos/${repository}`,
    grammar: new RegExp(`^${SEGMENT}/${SEGMENT}$`),
  },
  scm_b: {
    createClient: createGitlabClient,
    path: (repository) => `/projects/${encodeURIComponent(repository)}`,
    grammar: new RegExp(`^${SEGMENT}(?:/${SEGMENT}){1,20}$`),
  },
  scm_c: {
    createClient: createBitbucketClient,
    path: (repository) => `/repositories/${repository}`,
    grammar: new RegExp(`^${SEGMENT}/${SEGMENT}$`),
  },
}

/** True for what can be the name of a repository there; no other name ever becomes part of an address. */
export function isRepositoryName({ platform, repository }: ScmAddress): boolean {
  return CLIENTS[platform].grammar.test(repository)
}

interface ScmAccessDeps {
  readonly settings: () => { readonly config: ScmConfig }
  readonly flow: Pick<Flow, 'readJson'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

export function createScmAccess({ settings, flow, now }: ScmAccessDeps): ScmAccess {
  const appTokens = createAppTokens(now)
  const through = async <T>(
    address: ScmAddress,
    { token, purpose }: { readonly token: string | null; readonly purpose: 'read' | 'report' },
    work: (transport: ScmTransport, isApp: boolean) => Promise<T>,
  ): Promise<T> => {
    const { config } = settings()
    const { platform, repository } = address
    if (!isRepositoryName(address))
      throw new GatewayError('REPOSITORY_INACCESSIBLE', 'This is not a name of a repository.')
    const agent = openAgent({ connect: { timeout: config.scm.timeout * 1000 } })
    try {
      const connect = (authorization: string) => transportTo(address, authorization, { settings, flow, agent })
      const app = platform === 'scm_a' ? config.scm.github.app : undefined
      const authorization =
        app === undefined
          ? callerAuthorization(token ?? (await configuredToken(address, config.scm)))
          : `Bearer ${await appTokens.tokenFor(app, repository, purpose, connect)}`
      return await work(connect(authorization), app !== undefined)
    } finally {
      await agent.destroy()
    }
  }
  return {
    use(address, token, work) {
      const { createClient, path } = CLIENTS[address.platform]
      return through(address, { token, purpose: 'read' }, (transport) =>
        work(createClient(transport, path(address.repository))),
      )
    },
    publish(address, place, report) {
      const { platform, repository } = address
      const path = CLIENTS[platform].path(repository)
      return through(address, { token: null, purpose: 'report' }, (transport, isApp) =>
        publishReport(platform, transport, { ...place, isApp, repository: path }, report),
      )
    },
  }
}

/** `user:app password` is accepted by Bitbucket in addition to tokens. */
function callerAuthorization(token: string): string {
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new GatewayError('REPOSITORY_INACCESSIBLE', 'X-SCM-Token or the configured token file holds no token.')
  return token.includes(':') ? `Basic ${Buffer.from(token).toString('base64')}` : `Bearer ${token}`
}

/** Read for each use, so that a new token needs no restart. */
async function configuredToken({ platform }: ScmAddress, scm: ScmConfig['scm']): Promise<string> {
  const { token_file: file } = scm[PLATFORMS[platform].name]
  if (file === undefined)
    throw new GatewayError(
      'REPOSITORY_INACCESSIBLE',
      `There is no credential for the repository: send a short-lived token in the header X-SCM-Token, or configure scm.${PLATFORMS[platform].name}.`,
    )
  try {
    return (await loadRegularFile(file)).toString('utf8').trim()
  } catch (error) {
    throw new GatewayError('REPOSITORY_INACCESSIBLE', 'The configured token file cannot be read.', { cause: error })
  }
}

function transportTo(
  { platform }: ScmAddress,
  authorization: string,
  { settings, flow, agent }: Pick<ScmAccessDeps, 'settings' | 'flow'> & { readonly agent: Agent },
): ScmTransport {
  const { scm, limits } = settings().config
  const { name, title } = PLATFORMS[platform]
  const base = new URL(scm[name].api)
  return createScmTransport({
    title,
    prefix: base.pathname.replace(/\/+$/, ''),
    timeout: scm.timeout * 1000,
    maxBytes: limits.artifact_side,
    maxRequests: scm.max_requests,
    readJson: (bytes) => flow.readJson(bytes, 'answer'),
    send: ({ path, headers, ...rest }) =>
      request(new URL(base.origin + path), {
        ...rest,
        dispatcher: agent,
        headers: { ...headers, authorization, 'user-agent': 'preflight-gateway' },
      }),
  })
}
