/** The gateway's own way to a repository, for bindings and server derivation: the configured address, and a credential that is used once. */
import { openAgent, request, type Agent } from '../network/undici.ts'
import type { Flow } from '../flow/flow.ts'
import type { ScmConfig } from './settings.ts'
import { GatewayError } from '../errors/errors.ts'
import { createBitbucketClient } from './bitbucket.ts'
import { createGithubClient } from './github.ts'
import { createAppTokens, type AppTokens } from './github-app.ts'
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
   * @param token the caller's own (X-SCM-Token); null: that of the installed GitHub App
   * @throws GatewayError REPOSITORY_INACCESSIBLE when there is no credential to ask with
   */
  use<T>(address: ScmAddress, token: string | null, work: (client: ScmClient) => Promise<T>): Promise<T>
}

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
  return {
    async use(address, token, work) {
      const { config } = settings()
      const { platform, repository } = address
      const { createClient, path } = CLIENTS[platform]
      if (!isRepositoryName(address))
        throw new GatewayError('REPOSITORY_INACCESSIBLE', 'This is no name of a repository.')
      const agent = openAgent({ connect: { timeout: config.scm.timeout * 1000 } })
      try {
        const connect = (authorization: string) => transportTo(address, authorization, { settings, flow, agent })
        const app = platform === 'scm_a' ? config.scm.github.app : undefined
        const authorization =
          token !== null && app === undefined
            ? callerAuthorization(token)
            : await appAuthorization(app, repository, connect, appTokens)
        return await work(createClient(connect(authorization), path(repository)))
      } finally {
        await agent.destroy()
      }
    },
  }
}

/** `user:app password` is what Bitbucket still takes beside tokens. */
function callerAuthorization(token: string): string {
  if (!/^[\x21-\x7e]+$/.test(token)) throw new GatewayError('REPOSITORY_INACCESSIBLE', 'X-SCM-Token holds no token.')
  return token.includes(':') ? `Basic ${Buffer.from(token).toString('base64')}` : `Bearer ${token}`
}

async function appAuthorization(
  app: Parameters<AppTokens['tokenFor']>[0] | undefined,
  repository: string,
  connect: (authorization: string) => ScmTransport,
  tokens: AppTokens,
): Promise<string> {
  if (app === undefined)
    throw new GatewayError(
      'REPOSITORY_INACCESSIBLE',
      'There is no credential to read the repository with: send a short-lived token in the header X-SCM-Token.',
    )
  return `Bearer ${await tokens.tokenFor(app, repository, connect)}`
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
    readJson: (bytes) => flow.readJson(bytes),
    send: ({ path, headers, ...rest }) =>
      request(new URL(base.origin + path), {
        ...rest,
        dispatcher: agent,
        headers: { ...headers, authorization, 'user-agent': 'preflight-gateway' },
      }),
  })
}
