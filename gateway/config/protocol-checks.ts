/** What the schema cannot say of single protocols: members that only one of them has, and what it cannot do without. */
import { isResourceName, KNOWN_KINDS, RESOURCE_CLASSES } from '../protocols/kubernetes/kinds.ts'
import { compileRules } from '../protocols/mapped/rules.ts'
import { unreadableSource } from './contract-checks.ts'
import { isRecord } from '../settings/defaults.ts'
import { at } from '../settings/mistake-collector.ts'
import type { RouteConfig } from './route.ts'
import type { Config } from './schema.ts'
import type { Located } from '../settings/schema-mistakes.ts'
import { nearest } from '../settings/suggestion.ts'

type Protocol = RouteConfig['protocol']

/** The protocols that a section of a route belongs to. Sections that every protocol has are not listed. */
export const SECTION_PROTOCOLS = {
  kubernetes: ['kubernetes'],
  edits: ['mcp'],
  argocd: ['argocd'],
  npm: ['npm'],
  grpc: ['grpc'],
  graphql: ['graphql'],
  llm: ['llm'],
  map: ['mapped'],
  otherwise: ['mapped'],
  scm: ['github', 'gitlab', 'bitbucket'],
} as const satisfies Readonly<Partial<Record<keyof RouteConfig, readonly Protocol[]>>>

/** @param value the configuration as written, which the schema admits: defaults would fill in every section */
export function foreignSections(value: unknown): readonly Located[] {
  const routes: unknown = isRecord(value) ? value['routes'] : undefined
  return (Array.isArray(routes) ? routes : []).flatMap((route: unknown, index) =>
    Object.entries(SECTION_PROTOCOLS).flatMap(([section, protocols]) => {
      const protocol: unknown = isRecord(route) ? route['protocol'] : undefined
      const isOwn = protocols.some((name) => name === protocol)
      if (!isRecord(route) || typeof protocol !== 'string' || isOwn || route[section] === undefined) return []
      const what = `a route of the protocol ${protocol} has no section ${section}: it belongs to ${protocols.join(', ')}`
      return [
        { pointer: `/routes/${index}/${section}`, at: 'key', message: what, fix: 'remove it, or change protocol' },
      ]
    }),
  )
}

/** What the calls of a protocol are judged by, where nothing in the calls themselves tells it. */
const JUDGED_BY: Readonly<Partial<Record<Protocol, string>>> = {
  http: 'the OpenAPI document that the upstream offers now: contract: { current: { url: … } }',
  graphql:
    'the schema that the upstream offers now, contract: { current: { file: … } }, or let the upstream be asked: graphql: { introspect: true }',
  grpc: 'the .proto file, or the folder of them, that the upstream offers now: contract: { current: { file: … } }',
}

export function checkJudgedRoutes({ routes }: Config): readonly Located[] {
  return routes.flatMap(({ name, protocol, contract, graphql }, index) => {
    const fix = JUDGED_BY[protocol]
    const isAsked = protocol === 'graphql' && graphql.introspect
    if (isAsked && contract?.current !== undefined)
      return [
        at(
          `/routes/${index}/graphql/introspect`,
          'the schema is named in contract.current already',
          'remove one of the two',
        ),
      ]
    if (fix === undefined || isAsked || contract?.current !== undefined) return []
    const what = `the ${protocol} route "${name}" has no contract.current, so its calls could not be judged`
    return [at(`/routes/${index}`, what, `name ${fix}`)]
  })
}

/** Other protocols are judged by a contract that is named, or by what the call itself carries. */
export function checkListingHeaders({ routes }: Config): readonly Located[] {
  return routes.flatMap(({ protocol, contract, graphql }, index) => {
    const isAsked = protocol === 'mcp' || (protocol === 'graphql' && graphql.introspect)
    if (contract?.listing_headers === undefined || isAsked) return []
    const what = 'the upstream of this route is not asked what it offers'
    return [at(`/routes/${index}/contract/listing_headers`, what, 'remove it')]
  })
}

/** Whose calls can be held against their contract before they go on. */
const CHECKED: ReadonlySet<Protocol> = new Set(['http', 'graphql'])

export function checkValidation({ routes }: Config): readonly Located[] {
  return routes.flatMap(({ protocol, validate }, index) => {
    if (validate === 'off' || CHECKED.has(protocol) || (protocol === 'mcp' && validate === 'observe')) return []
    const pointer = `/routes/${index}/validate`
    return protocol === 'mcp'
      ? [
          at(
            pointer,
            'the result of a tool has gone on by the time it is read, so nothing can be refused',
            'use observe',
          ),
        ]
      : [at(pointer, `calls of the protocol ${protocol} are not described by schemas`, 'remove it')]
  })
}

export function checkKubernetesNames({ routes }: Config): readonly Located[] {
  return routes.flatMap(({ kubernetes }, index) =>
    (['receipts', 'contracts'] as const).flatMap((list) =>
      kubernetes[list].flatMap((name, position) =>
        isResourceName(name)
          ? []
          : [
              at(
                `/routes/${index}/kubernetes/${list}/${position}`,
                `"${name}" is no kind that Kubernetes itself brings, and no class of kinds`,
                resourceHint(name),
              ),
            ],
      ),
    ),
  )
}

function resourceHint(name: string): string {
  const guess = nearest(name, [...KNOWN_KINDS, ...RESOURCE_CLASSES])
  const forms = `a kind (Deployment), RESOURCE.GROUP of a custom resource (widgets.example.com), or one of ${RESOURCE_CLASSES.join(', ')}`
  return `${guess === null ? '' : `did you mean ${guess}? `}Write ${forms}`
}

export function checkRequestMaps({ routes }: Config): readonly Located[] {
  return routes.flatMap(({ protocol, map }, index) => {
    const pointer = `/routes/${index}`
    if (protocol !== 'mapped') return []
    if (map === undefined)
      return [at(pointer, 'a mapped route has rules that say what its requests are', 'add map: [...]')]
    const compiled = compileRules(map)
    return compiled.ok
      ? []
      : compiled.problem.map(({ pointer: within, message, fix }) => at(`${pointer}/map${within}`, message, fix))
  })
}

export function checkAgents({ routes }: Config): readonly Located[] {
  return routes.flatMap(({ llm, contract }, index) => {
    const isNamed = llm.agent_header !== undefined || llm.agent_field !== undefined
    if (llm.agents.length === 0)
      return isNamed
        ? [at(`/routes/${index}/llm/agents`, 'no agent is named, so every call that names one is refused', 'list them')]
        : []
    if (!isNamed)
      return [
        at(`/routes/${index}/llm`, 'nothing says which agent a call belongs to', 'add agent_header or agent_field'),
      ]
    return contract?.baseline === undefined
      ? []
      : [
          at(
            `/routes/${index}/contract/baseline`,
            'one source cannot be the baseline of several agents',
            'write one route for each, or leave it out: the first tools seen are pinned',
          ),
        ]
  })
}

/** Documents that are kept by a server of GraphQL. */
export function checkDocuments({ routes }: Config): readonly Located[] {
  return routes.flatMap(({ graphql: { documents } }, index) => {
    const reason = documents === undefined ? null : unreadableSource({ file: documents }, 'graphql')
    return reason === null ? [] : [at(`/routes/${index}/graphql/documents`, reason, 'paths start at this file')]
  })
}
