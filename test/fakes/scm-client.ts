/** The gateway's own clients against the fake platforms, and derivations through them. */
import { request } from 'undici'
import { DEFAULT_DOCUMENT_LIMITS, readJson } from '../../engine/internal.ts'
import { createBitbucketClient } from '../../gateway/scm/bitbucket.ts'
import { type DerivationTerms, createSelector } from '../../gateway/scm/selector.ts'
import { createGithubClient } from '../../gateway/scm/github.ts'
import { createGitlabClient } from '../../gateway/scm/gitlab.ts'
import type { ScmClient } from '../../gateway/scm/platform.ts'
import { createScmTransport, type ScmTransport } from '../../gateway/scm/transport.ts'
import { INLINE_TEXTS } from './contract-texts.ts'
import { startBitbucket } from './bitbucket-server.ts'
import { startGithub } from './github-server.ts'
import { startGitlab } from './gitlab-server.ts'
import type { FakeRepository } from './scm-repository.ts'
import { SCM_TOKEN, type ScmServer } from './scm-server.ts'

export interface FakePlatform {
  readonly name: 'GitHub' | 'GitLab' | 'Bitbucket'
  start(repository: FakeRepository): Promise<ScmServer>
  client(server: ScmServer, token?: string): ScmClient
}

export const FAKE_PLATFORMS: readonly FakePlatform[] = [
  {
    name: 'GitHub',
    start: (repository) => startGithub(repository),
    client: (server, token) => createGithubClient(transportTo(server, '', token), `/repos/${server.repository.name}`),
  },
  {
    name: 'GitLab',
    start: (repository) => startGitlab(repository),
    client: (server, token) => createGitlabClient(transportTo(server, '/api/v4', token), '/projects/4711'),
  },
  {
    name: 'Bitbucket',
    start: (repository) => startBitbucket(repository),
    client: (server, token) =>
      createBitbucketClient(transportTo(server, '/2.0', token), `/repositories/${server.repository.name}`),
  },
]

export function transportTo(server: ScmServer, prefix: string, token = SCM_TOKEN, changes = {}): ScmTransport {
  return createScmTransport({
    title: 'The platform',
    prefix,
    timeout: 5000,
    maxBytes: 1024 * 1024,
    maxRequests: 200,
    readJson: (bytes) => Promise.resolve(readJson(Buffer.from(bytes).toString('utf8'), DEFAULT_DOCUMENT_LIMITS)),
    send: ({ path, headers, ...rest }) =>
      request(server.origin + path, { ...rest, headers: { ...headers, authorization: `Bearer ${token}` } }),
    ...changes,
  })
}

export function derivationTerms(changes: Partial<DerivationTerms> = {}): DerivationTerms {
  return {
    selector: createSelector({
      types: ['openapi', 'graphql', 'protobuf', 'json_schema', 'mcp_manifest'],
      globs: ['**/*.{yaml,yml,json}', '**/*.{graphql,proto}', '!**/package.json'],
    }),
    texts: INLINE_TEXTS,
    limits: DEFAULT_DOCUMENT_LIMITS,
    maxContracts: 100,
    ...changes,
  }
}

/** An OpenAPI document with these operations, `GET /pets` style. */
export function openapi(...paths: readonly string[]): string {
  const lines = paths.map((path) => `  ${path}:\n    get:\n      responses:\n        '200': { description: good }`)
  return `openapi: 3.0.3\ninfo: { title: pets, version: '1' }\npaths:\n${lines.join('\n')}\n`
}
