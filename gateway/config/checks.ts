/** What a schema cannot say: members that contradict each other, files that are not there, addresses that cannot work. */
import { accessSync, constants, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { isResourceName, KNOWN_KINDS, RESOURCE_CLASSES } from '../intercept/kubernetes/kinds.ts'
import { compileRules } from '../intercept/mapped/rules.ts'
import { errorCode } from '../startup-error.ts'
import { checkScm, pushWarnings } from './scm-checks.ts'
import { isLoopback, isWildcard, parseAddress, type Address } from './addresses.ts'
import { authorityWarnings, checkCertificateFiles } from './certificate-checks.ts'
import { checkEgressLists, checkReservedName, checkRouteHosts } from './egress-checks.ts'
import type { Config } from './schema.ts'
import type { ContractSource, RouteConfig } from './route.ts'
import type { Located } from './schema-mistakes.ts'
import { checkSinks } from './sink-checks.ts'
import { nearest } from './suggestion.ts'
import { at } from './located.ts'

type Check = (config: Config) => readonly Located[]

/** Mistakes that stop a start or a reload. */
const CHECKS: readonly Check[] = [
  checkPorts,
  checkStore,
  checkSigner,
  checkUrls,
  checkRouteNames,
  checkRouteMatches,
  checkRoutesSomewhere,
  checkJudgedRoutes,
  checkValidation,
  checkKubernetesNames,
  checkRequestMaps,
  checkAgents,
  checkContractFiles,
  checkDocuments,
  checkContractSources,
  checkOwnUpstreams,
  checkSinks,
  checkRepository,
  checkEgressLists,
  checkRouteHosts,
  checkReservedName,
  checkCertificateFiles,
  checkScm,
]

export function checkMeaning(config: Config): readonly Located[] {
  return CHECKS.flatMap((check) => check(config))
}

/** What is allowed and probably not meant. */
export function warningsOf(config: Config): readonly Located[] {
  const warnings: Located[] = [...authorityWarnings(config)]
  if (config.monitoring.sinks.length === 0)
    warnings.push({
      pointer: '/monitoring/sinks',
      at: 'value',
      message: 'there is no sink, so no CONTINUE_WITH_MONITORING will proceed',
      fix: 'add one, e.g. { type: log }',
    })
  config.routes.forEach((route, index) => {
    if (route.failure === 'open')
      warnings.push(
        at(`/routes/${index}/failure`, 'calls that cannot be judged are forwarded', 'closed is the default'),
      )
    warnings.push(...pushWarnings(route, index))
  })
  return warnings
}

function checkSigner({ signer }: Config): readonly Located[] {
  const { url, public_key: key } = signer
  if ((url === undefined) === (key === undefined)) return []
  return key === undefined
    ? [at('/signer/url', 'the signer has no public key', 'add signer.public_key, the member "x" of its JWK')]
    : [at('/signer/public_key', 'there is no signer for this key', 'add signer.url')]
}

function checkPorts({ listen }: Config): readonly Located[] {
  const seen: { readonly name: string; readonly address: Address }[] = []
  return Object.entries(listen).flatMap(([name, text]) => {
    const address = parseAddress(text)
    const pointer = `/listen/${name}`
    if (address.port > 65_535) return [at(pointer, `port ${address.port} does not exist`, 'use 0 to 65535')]
    const clash = seen.find((other) => isSameSocket(other.address, address))
    seen.push({ name, address })
    return clash === undefined ? [] : [at(pointer, `${text} is taken by listen.${clash.name}`, 'use another port')]
  })
}

function isSameSocket(a: Address, b: Address): boolean {
  if (a.port === 0 || a.port !== b.port) return false
  return a.host === b.host || isWildcard(a.host) || isWildcard(b.host)
}

function checkStore({ store }: Config): readonly Located[] {
  if (store.url === undefined || /^file:./.test(store.url)) return []
  const fix = 'leave it out (SQLite in data_dir), or name a SQLite file with file:PATH'
  return [at('/store/url', `${JSON.stringify(store.url)} is no store that this version can open`, fix)]
}

function checkUrls(config: Config): readonly Located[] {
  const urls: readonly (readonly [string, string | undefined])[] = [
    ['/public_url', config.public_url],
    ...config.routes.map(({ upstream }, index) => [`/routes/${index}/upstream`, upstream] as const),
  ]
  return urls.flatMap(([pointer, url]) =>
    url === undefined || URL.canParse(url)
      ? []
      : [at(pointer, `${url} is not a URL`, 'write http(s)://HOST[:PORT][/PATH]')],
  )
}

function checkRouteNames({ routes }: Config): readonly Located[] {
  return repeated(routes, ({ name }) => name).map(([index, first, name]) =>
    at(`/routes/${index}/name`, `the route name "${name}" is used by routes[${first}] too`, 'names are unique'),
  )
}

function checkRouteMatches({ routes }: Config): readonly Located[] {
  return repeated(routes, matchOf).map(([index, first]) =>
    at(
      `/routes/${index}/match`,
      `routes[${first}] ("${routes[first]?.name}") matches the same host and path, so this route gets no call`,
      'give them different paths or hosts',
    ),
  )
}

function matchOf({ match }: RouteConfig): string {
  return `${match.host?.toLowerCase() ?? ''} ${match.path.replace(/\/+$/, '')}`
}

/** Only a route that names its host can leave it to the request where the call goes. */
function checkRoutesSomewhere({ routes }: Config): readonly Located[] {
  return routes.flatMap(({ name, match, upstream }, index) =>
    upstream === undefined && match.host === undefined
      ? [
          at(
            `/routes/${index}`,
            `the route "${name}" has neither an upstream nor a host, so its calls could go anywhere`,
            'add upstream: URL for calls to the gateway, or match: { host: … } for calls through it',
          ),
        ]
      : [],
  )
}

/** What the calls of a protocol are judged by, where nothing in the calls themselves tells it. */
const JUDGED_BY: Readonly<Partial<Record<RouteConfig['protocol'], string>>> = {
  http: 'the OpenAPI document that the upstream offers now: contract: { current: { url: … } }',
  graphql:
    'the schema that the upstream offers now, contract: { current: { file: … } }, or let the upstream be asked: graphql: { introspect: true }',
  grpc: 'the .proto file, or the folder of them, that the upstream offers now: contract: { current: { file: … } }',
}

function checkJudgedRoutes({ routes }: Config): readonly Located[] {
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

function checkValidation({ routes }: Config): readonly Located[] {
  return routes.flatMap(({ protocol, validate }, index) => {
    if (validate === 'off' || protocol === 'http' || (protocol === 'mcp' && validate === 'observe')) return []
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

function checkKubernetesNames({ routes }: Config): readonly Located[] {
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

function checkRequestMaps({ routes }: Config): readonly Located[] {
  return routes.flatMap(({ protocol, map, otherwise }, index) => {
    const pointer = `/routes/${index}`
    if (protocol !== 'mapped') {
      const member = map !== undefined ? 'map' : otherwise !== undefined ? 'otherwise' : null
      if (member === null) return []
      return [
        at(
          `${pointer}/${member}`,
          `a route of the protocol ${protocol} is not mapped by rules`,
          'write protocol: mapped, or remove it',
        ),
      ]
    }
    if (map === undefined)
      return [at(pointer, 'a mapped route has rules that say what its requests are', 'add map: [...]')]
    const compiled = compileRules(map)
    return compiled.ok
      ? []
      : compiled.problem.map(({ pointer: within, message, fix }) => at(`${pointer}/map${within}`, message, fix))
  })
}

function checkAgents({ routes }: Config): readonly Located[] {
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

function checkContractFiles({ routes }: Config): readonly Located[] {
  return routes.flatMap(({ contract, protocol }, index) =>
    (['baseline', 'current'] as const).flatMap((side) => {
      const place = `/routes/${index}/contract/${side}`
      const reason = unreadable(contract?.[side], protocol)
      if (reason !== null) return [at(`${place}/file`, reason, 'paths start at this file')]
      const around = notAround(contract?.[side])
      return around === null ? [] : [at(`${place}/root`, around, 'name a folder that the file lies in')]
    }),
  )
}

/** An MCP server answers each caller by its credentials, and the gateway has none of its own to look with. */
const UNWATCHED = {
  mcp: 'what an MCP server offers is asked for as the caller, with each call and by contract.refresh: without contract.current there is nothing to look at in between',
  other: 'there is nothing to watch: contract.current is not named',
} as const
const WATCHED = 'name contract.current, or leave watch out'

/** Documents that are kept by a server of GraphQL. */
function checkDocuments({ routes }: Config): readonly Located[] {
  return routes.flatMap(({ graphql: { documents } }, index) => {
    const reason = documents === undefined ? null : unreadable({ file: documents }, 'graphql')
    return reason === null ? [] : [at(`/routes/${index}/graphql/documents`, reason, 'paths start at this file')]
  })
}

function checkContractSources({ routes, diff }: Config): readonly Located[] {
  return routes.flatMap(({ contract, protocol }, index) => {
    const unplaced = (['baseline', 'current'] as const).flatMap((side) => {
      const source = contract?.[side]
      return source !== undefined && 'git' in source && diff.repository === undefined
        ? [at(`/routes/${index}/contract/${side}/git`, 'there is no repository to read it from', 'add diff.repository')]
        : []
    })
    const unwatchable =
      contract?.watch !== undefined && contract.current === undefined
        ? [at(`/routes/${index}/contract/watch`, UNWATCHED[protocol === 'mcp' ? 'mcp' : 'other'], WATCHED)]
        : []
    return [...unplaced, ...unwatchable]
  })
}

function unreadable(source: ContractSource | undefined, protocol: RouteConfig['protocol']): string | null {
  if (source === undefined || !('file' in source)) return null
  try {
    accessSync(source.file, constants.R_OK)
    const found = statSync(source.file)
    // Only a protobuf contract can be a folder: its files name each other by their paths in it.
    return found.isFile() || (found.isDirectory() && protocol === 'grpc') ? null : `${source.file} is not a file`
  } catch (error) {
    return `${source.file} cannot be read (${errorCode(error) ?? 'unknown error'})`
  }
}

/** References may lead into a folder; the file itself has to be in it. */
function notAround(source: ContractSource | undefined): string | null {
  if (source === undefined || !('file' in source) || source.root === undefined) return null
  const { file, root } = source
  if (statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true) return `${root} is no folder`
  return file.startsWith(root.endsWith(sep) ? root : root + sep) ? null : `${file} is not in ${root}`
}

/** A route to our own proxy listener would call itself until something gives way. */
function checkOwnUpstreams({ listen, routes }: Config): readonly Located[] {
  const own = parseAddress(listen.proxy)
  return routes.flatMap(({ upstream }, index) => {
    if (upstream === undefined || !URL.canParse(upstream)) return []
    const { hostname, port } = new URL(upstream)
    const host = hostname.replace(/^\[|\]$/g, '')
    const isOwn =
      Number(port) === own.port && own.port !== 0 && (host === own.host || (isLoopback(host) && isLocal(own)))
    return isOwn
      ? [
          at(
            `/routes/${index}/upstream`,
            'the upstream is this gateway’s own proxy listener',
            'name the server behind it',
          ),
        ]
      : []
  })
}

function isLocal({ host }: Address): boolean {
  return isLoopback(host) || isWildcard(host)
}

function checkRepository({ diff }: Config): readonly Located[] {
  if (diff.repository === undefined) return []
  const candidates = [join(diff.repository, '.git'), join(diff.repository, 'objects')]
  const isRepository = candidates.some((path) => statSync(path, { throwIfNoEntry: false }) !== undefined)
  return isRepository
    ? []
    : [
        at(
          '/diff/repository',
          `${diff.repository} is no git repository`,
          'name a working directory or a bare repository',
        ),
      ]
}

/** Items whose key an earlier item has: their index, the earlier index, the key. */
function repeated<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
): readonly (readonly [index: number, first: number, key: string])[] {
  const keys = items.map(keyOf)
  return keys.flatMap((key, index) => {
    const first = keys.indexOf(key)
    return first === index ? [] : [[index, first, key] as const]
  })
}
