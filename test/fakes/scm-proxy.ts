/** A proxy before a fake platform, with a repository whose branch `feature` changes the contract that `main` has. */
import type { TestContext } from 'node:test'
import { startBitbucket } from './bitbucket-server.ts'
import { startGithub, type GithubOptions } from './github-server.ts'
import { startGitlab } from './gitlab-server.ts'
import { startProxy, type ProxyUnderTest, type ProxyOptions } from './proxy-under-test.ts'
import { openapi } from './scm-client.ts'
import { FakeRepository } from './scm-repository.ts'
import { SCM_TOKEN, type ScmServer } from './scm-server.ts'

export interface ScmScene {
  readonly repository: FakeRepository
  readonly server: ScmServer
  readonly proxy: ProxyUnderTest
  /** Sends a request with the caller's token through the proxy; `body` becomes JSON. */
  send(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>
}

export interface SceneOptions extends Partial<ProxyOptions> {
  readonly scm?: Readonly<Record<string, unknown>>
  readonly github?: GithubOptions
  readonly receipts?: Readonly<Record<string, unknown>>
  readonly mode?: 'enforce' | 'observe'
}

export const BEFORE = openapi('/pets', '/toys')
export const AFTER = openapi('/pets')

const STARTERS = {
  github: (repository: FakeRepository, options: GithubOptions) => startGithub(repository, options),
  gitlab: (repository: FakeRepository) => startGitlab(repository),
  bitbucket: (repository: FakeRepository) => startBitbucket(repository),
} as const

export async function scmScene(
  t: TestContext,
  protocol: keyof typeof STARTERS,
  { scm = {}, github = {}, receipts = {}, mode = 'enforce', ...options }: SceneOptions = {},
): Promise<ScmScene> {
  const repository = new FakeRepository('acme/pets', { 'api/openapi.yaml': BEFORE, 'README.md': 'pets' })
  repository.commit('feature', { 'api/openapi.yaml': AFTER }, 'main')
  repository.open(7, 'feature')
  const server = await STARTERS[protocol](repository, github)
  const route = { name: 'scm', match: { path: '/' }, upstream: server.origin, protocol, scm, receipts, mode }
  const proxy = await startProxy({ ...options, routes: [route] })
  t.after(async () => {
    await proxy.close()
    await server.close()
  })
  return {
    repository,
    server,
    proxy,
    send: (method, path, body, headers = {}) =>
      fetch(`${proxy.url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${SCM_TOKEN}`,
          ...(body !== undefined && !(body instanceof FormData) && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && {
          body: body instanceof FormData || typeof body === 'string' ? body : JSON.stringify(body),
        }),
      }),
  }
}

/** What the flow was asked to decide, in short. */
export function asked({ proxy }: ScmScene) {
  return proxy.flow.asked.map(({ context, artifacts, completeness }) => ({
    operation: context.operation,
    target: context.target_id,
    repository: context.repository,
    branch: context.branch,
    pull: context.pull_request,
    artifacts: artifacts.map(({ id, before, after }) => [id, before, after]),
    derivation: completeness?.origin.kind === 'derived' ? completeness.origin.derivation : 'none',
  }))
}
