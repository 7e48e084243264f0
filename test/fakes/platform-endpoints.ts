/** Every write endpoint that the platforms' own descriptions and clients know: GitHub's OpenAPI documents, GitLab's and Bitbucket's clients. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { at } from '../json.ts'

/** `METHOD /path/with/{names}` */
export type EndpointName = string

const require = createRequire(import.meta.url)
const WRITES = ['post', 'put', 'patch', 'delete'] as const

export function githubEndpoints(): readonly EndpointName[] {
  const found = new Set<string>()
  for (const document of ['api.github.com', 'ghec', 'ghes-3.17', 'ghes-3.18', 'ghes-3.19']) {
    const file = require.resolve(`@octokit/openapi/generated/${document}.json`)
    const paths = at(JSON.parse(readFileSync(file, 'utf8')), 'paths')
    for (const [path, item] of Object.entries(Object(paths)))
      for (const method of WRITES) if (at(item, method) !== undefined) found.add(`${method.toUpperCase()} ${path}`)
  }
  return [...found].toSorted()
}

/** Each method of each resource is called with every number of arguments, and what it would ask for is kept. */
export async function gitlabEndpoints(): Promise<readonly EndpointName[]> {
  const found = new Set<string>()
  const keep = (method: string, prefix: string) => (path: unknown) => {
    if (method !== 'get') found.add(`${method.toUpperCase()} /${template(`${prefix}/${String(path)}`)}`)
    return Promise.resolve({ body: {}, headers: {}, status: 200 })
  }
  const requesterAt = (prefix: string): object => new Proxy({}, { get: (_, method) => keep(String(method), prefix) })
  const deprecation = process.noDeprecation
  process.noDeprecation = true
  const module: unknown = await import('@gitbeaker/core')
  for (const [name, Resource] of Object.entries(Object(module))) {
    if (typeof Resource !== 'function' || name === 'Gitlab') continue
    for (const [method, resource] of methodsOf(Resource, requesterAt)) callAll(method, resource)
  }
  await new Promise((resolve) => setImmediate(resolve))
  if (deprecation === undefined) delete process.noDeprecation
  else process.noDeprecation = deprecation
  return [...found].filter((endpoint) => !/undefined|object/i.test(endpoint)).toSorted()
}

function methodsOf(Resource: object, requesterAt: (prefix: string) => object): readonly (readonly [unknown, object])[] {
  try {
    const options = {
      host: 'https://gitlab.invalid',
      token: 'x',
      requesterFn: ({ url }: { readonly url: string }) => requesterAt(url.split('/api/v4/', 2)[1] ?? ''),
    }
    const resource: unknown = Reflect.construct(Object(Resource), [options])
    if (typeof resource !== 'object' || resource === null) return []
    const names = new Set<string>()
    for (let type: unknown = resource; type !== null && type !== Object.prototype; type = Object.getPrototypeOf(type))
      for (const name of Object.getOwnPropertyNames(type)) names.add(name)
    names.delete('constructor')
    return [...names].map((name) => [Reflect.get(resource, name), resource] as const)
  } catch (error) {
    // What is exported beside the resources is no class that takes options.
    if (error instanceof Error) return []
    throw error
  }
}

/** Members of options that decide which path is asked for. */
const OPTIONS: readonly object[] = [
  {},
  { projectId: ':id' },
  { groupId: ':id' },
  { userId: ':id' },
  { mergerequestIId: ':id' },
  { projectId: ':id', mergerequestIId: ':id' },
  { projectId: ':id', issueIId: ':id' },
  { projectId: ':id', snippetId: ':id' },
  { groupId: ':id', epicId: ':id' },
  { environmentId: ':id' },
  { clusterId: ':id' },
]

function callAll(method: unknown, resource: object): void {
  if (typeof method !== 'function') return
  for (const options of OPTIONS)
    for (let count = 0; count <= 6; count += 1) {
      try {
        const answer: unknown = Reflect.apply(method, resource, [
          ...Array.from({ length: count }, () => ':id'),
          options,
        ])
        if (answer instanceof Promise) answer.catch(() => null)
      } catch (error) {
        // Too few arguments, or options of another method.
        if (!(error instanceof Error)) throw error
      }
    }
}

function template(path: string): string {
  return (path.replace(/^\/+/, '').split('?', 1)[0] ?? '').replaceAll(/%3Aid|:id/g, '{id}')
}

export function bitbucketEndpoints(): readonly EndpointName[] {
  const source = readFileSync(require.resolve('bitbucket'), 'utf8')
  const found = [...source.matchAll(/method:\s*"(POST|PUT|PATCH|DELETE)"[\s\S]*?url:\s*"([^"]+)"/g)]
  return [
    ...new Set(found.map(([, method, path = '']) => `${method} ${path.replaceAll(/\{\?[^}]*\}/g, '')}`)),
  ].toSorted()
}
