/** A pod's way to the stand-in API server: TLS, a token and an authority in a folder, and the rules of its roles. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { at, listAt } from '../json.ts'
import { testAuthority } from './certificates.ts'
import type { ClusterRequest, FakeCluster } from './kubernetes-api.ts'
import { listening } from './listening.ts'

export interface ServiceAccount {
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
}

export async function serviceAccount(t: TestContext, cluster: FakeCluster): Promise<ServiceAccount> {
  const authority = await testAuthority()
  const server = createServer(await authority.leaf('127.0.0.1'), (incoming, response) => {
    const { method, url = '', headers } = incoming
    const onward = httpRequest(`${cluster.origin}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    incoming.pipe(onward)
  })
  const { port } = new URL(await listening(t, server))
  const folder = mkdtempSync(join(tmpdir(), 'preflight-account-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'ca.crt'), authority.certificate)
  writeFileSync(join(folder, 'token'), 'the-token\n')
  return { folder, environment: { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: port } }
}

const VERBS = new Map([
  ['GET', 'get'],
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
])

export interface Authorizer {
  /** For `FakeCluster.intervene`: what no rule allows is refused. */
  readonly intervene: FakeCluster['intervene']
  /** Verbs of rules that no request used, as `RESOURCE VERB`. */
  unused(): readonly string[]
}

/** @param roles Role and ClusterRole objects that are bound to the account */
export function authorizerOf(roles: readonly unknown[]): Authorizer {
  const rules = roles.flatMap((role) => listAt(role, 'rules'))
  const wanted = rules.flatMap((rule) =>
    listAt(rule, 'verbs').map((verb) => ({
      rule,
      verb: String(verb),
      label: `${String(at(rule, 'resources', 0))} ${String(verb)}`,
    })),
  )
  const used = new Set<object>()
  return {
    intervene(request) {
      const asked = askedBy(request)
      const granting = wanted.filter(({ rule, verb }) => verb === asked.verb && covers(rule, asked))
      for (const one of granting) used.add(one)
      const message = `cannot ${asked.verb} ${asked.resource} ${asked.name ?? ''}`
      return granting.length > 0 ? null : { code: 403, message }
    },
    unused: () => wanted.filter((one) => !used.has(one)).map(({ label }) => label),
  }
}

interface Asked {
  readonly verb: string
  readonly group: string
  readonly resource: string
  /** Null: of a collection. */
  readonly name: string | null
}

function askedBy({ method, url }: ClusterRequest): Asked {
  const [path = ''] = url.split('?', 1)
  const [, group = '', rest = ''] = /^\/api(?:s\/([^/]+))?\/v1\/(?:namespaces\/[^/]+\/)?(.+)$/.exec(path) ?? []
  const [resource = '', name = null] = rest.split('/')
  return { verb: VERBS.get(method) ?? method, group, resource, name }
}

function covers(rule: unknown, { group, resource, name }: Asked): boolean {
  const names = at(rule, 'resourceNames')
  const isNamed = !Array.isArray(names) || (name !== null && names.includes(name))
  return isNamed && listAt(rule, 'apiGroups').includes(group) && listAt(rule, 'resources').includes(resource)
}
