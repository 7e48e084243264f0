/** Checks that a schema cannot express: members that contradict each other, missing files, addresses that cannot work. */
import { join } from 'node:path'
import { isLoopback, isWildcard, parseAddress, type Address } from '../network/listen-address.ts'
import { certificateWarnings, checkCertificateFiles } from '../tls/certificate-checks.ts'
import { checkContractFiles, checkContractOrigins, checkContractSources } from '../documents/contract-checks.ts'
import { checkRoutePaths } from '../routing/path-checks.ts'
import { checkEgressLists, checkReservedName, checkRouteHosts } from '../upstream/egress-checks.ts'
import { absenceAt, mistakeAt } from '../settings/mistake-collector.ts'
import { checkProtocols, protocolWarnings } from './protocol-checks.ts'
import { checkHeaders } from './header-checks.ts'
import { checkUrls } from './url-checks.ts'
import { protocolSettings } from '../protocols/settings.ts'
import type { RouteConfig } from '../protocols/route.ts'
import { checkPrograms } from '../documents/contract-checks.ts'
import { checkInjector } from '../kubernetes/settings.ts'
import { isPostgresUrl, readPostgresUrl } from '../store/postgres/address.ts'
import type { Config } from './schema.ts'
import { hubWarnings } from '../hub/settings.ts'
import { checkHubAccess, hubAccessWarnings, isHubUrl } from '../store/settings.ts'
import type { LocatedMistake } from '../settings/schema-mistakes.ts'
import { checkScm } from '../scm/settings.ts'
import { checkChannels } from '../notifications/settings.ts'
import { checkSignIn } from '../console/settings.ts'
import { checkSinks } from '../monitoring/sink-checks.ts'
import { checkDecisionLog } from '../telemetry/decision-log/checks.ts'
import { statsOf } from '../runtime/regular-file.ts'

type ConfigCheck = (config: Config) => readonly LocatedMistake[]

/** Mistakes that stop a start or a reload. */
const CHECKS: readonly ConfigCheck[] = [
  checkPorts,
  checkListenerTls,
  checkInjector,
  checkStore,
  checkHubAccess,
  checkSigner,
  checkUrls,
  checkHeaders,
  checkRouteNames,
  checkRouteMatches,
  checkRoutesSomewhere,
  checkProtocols,
  (config) => checkContractFiles(config, protocolSettings),
  (config) => checkContractOrigins(config, protocolSettings),
  (config) => checkContractSources(config, protocolSettings),
  checkOwnUpstreams,
  checkSinks,
  checkChannels,
  checkSignIn,
  checkDecisionLog,
  checkRepository,
  checkEgressLists,
  checkRouteHosts,
  checkRoutePaths,
  checkReservedName,
  checkCertificateFiles,
  checkPrograms,
  checkScm,
]

export function checkMeaning(config: Config): readonly LocatedMistake[] {
  return CHECKS.flatMap((check) => check(config))
}

/** Settings that are allowed but probably not intended. */
export function warningsOf(config: Config): readonly LocatedMistake[] {
  const warnings: LocatedMistake[] = [
    ...certificateWarnings(config),
    ...hubWarnings(config),
    ...hubAccessWarnings(config),
  ]
  if (config.monitoring.sinks.length === 0)
    warnings.push({
      pointer: '/monitoring/sinks',
      at: 'value',
      message: 'there is no sink, so no decision CONTINUE_WITH_MONITORING can proceed',
      fix: 'add one, e.g. { type: log }',
    })
  config.routes.forEach((route, index) => {
    if (route.failure === 'open')
      warnings.push(
        mistakeAt(`/routes/${index}/failure`, 'calls without a decision are forwarded', 'closed is the default'),
      )
    warnings.push(...protocolWarnings(route, `/routes/${index}`))
  })
  return warnings
}

function checkSigner({ signer }: Config): readonly LocatedMistake[] {
  const { url, public_key: key } = signer
  if ((url === undefined) === (key === undefined)) return []
  return key === undefined
    ? [mistakeAt('/signer/url', 'the signer has no public key', 'add signer.public_key, the member "x" of its JWK')]
    : [mistakeAt('/signer/public_key', 'there is no signer for this key', 'add signer.url')]
}

function checkPorts({ listen }: Config): readonly LocatedMistake[] {
  const seen: { readonly name: string; readonly address: Address }[] = []
  return Object.entries(listen).flatMap(([name, text]) => {
    const address = parseAddress(text)
    const pointer = `/listen/${name}`
    if (address.port > 65_535) return [mistakeAt(pointer, `port ${address.port} does not exist`, 'use 0 to 65535')]
    const clash = seen.find((other) => isSameSocket(other.address, address))
    seen.push({ name, address })
    return clash === undefined
      ? []
      : [mistakeAt(pointer, `${text} is taken by listen.${clash.name}`, 'use another port')]
  })
}

/** Settings of a listener that is off, and settings that keep the probes of Kubernetes out. */
function checkListenerTls({ listen, tls, routes, injector, public_url: url }: Config): readonly LocatedMistake[] {
  const { ext_authz: authz, webhooks, api, hub } = tls.listeners
  const isPlain = url?.startsWith('http:') === true
  return [
    ...(authz !== undefined && listen.ext_authz === undefined
      ? [absenceAt('/tls/listeners/ext_authz', ['listen'], 'there is no ext_authz listener', 'add listen.ext_authz')]
      : []),
    ...(hub !== undefined && listen.hub === undefined
      ? [absenceAt('/tls/listeners/hub', ['listen'], 'there is no hub listener', 'add listen.hub')]
      : []),
    ...(listen.hub !== undefined && hub === undefined && !isLoopback(parseAddress(listen.hub).host)
      ? [absenceAt('/listen/hub', ['tls'], 'sidecars would send their tokens in plaintext', 'add tls.listeners.hub')]
      : []),
    ...(webhooks !== undefined && listen.webhooks === undefined
      ? [absenceAt('/tls/listeners/webhooks', ['listen'], 'there is no webhooks listener', 'add listen.webhooks')]
      : []),
    ...(listen.webhooks !== undefined && webhooks === undefined
      ? [
          absenceAt(
            '/listen/webhooks',
            ['tls'],
            'an API server calls webhooks over TLS only',
            'add tls.listeners.webhooks',
          ),
        ]
      : []),
    ...(listen.webhooks !== undefined &&
    injector === undefined &&
    !routes.some(({ protocol }) => protocol === 'kubernetes')
      ? [
          absenceAt(
            '/listen/webhooks',
            ['routes', 'injector'],
            'there is nothing to answer',
            'add a route with protocol: kubernetes, or injector',
          ),
        ]
      : []),
    ...(api !== undefined && isPlain
      ? [
          mistakeAt(
            '/public_url',
            'the API listener speaks TLS only',
            'write https://HOST[:PORT], or leave tls.listeners.api out',
          ),
        ]
      : []),
  ]
}

function isSameSocket(a: Address, b: Address): boolean {
  if (a.port === 0 || a.port !== b.port) return false
  return a.host === b.host || isWildcard(a.host) || isWildcard(b.host)
}

function checkStore({ store }: Config): readonly LocatedMistake[] {
  // Addresses of hubs are checked with the other addresses.
  if (isHubUrl(store.url)) return []
  return [
    ...urlMistakes('/store/url', store.url),
    ...(store.listen_url !== undefined && !isPostgresUrl(store.url ?? '')
      ? [
          mistakeAt(
            '/store/listen_url',
            'it belongs to a PostgreSQL store',
            'set store.url to postgres://…, or leave it out',
          ),
        ]
      : store.listen_url === undefined || isPostgresUrl(store.listen_url)
        ? urlMistakes('/store/listen_url', store.listen_url)
        : [mistakeAt('/store/listen_url', 'it is not a PostgreSQL URL', 'write postgres://USER@HOST:PORT/DATABASE')]),
  ]
}

/** A URL that may hold a password is not quoted. */
function urlMistakes(pointer: string, url: string | undefined): readonly LocatedMistake[] {
  if (url === undefined || /^file:./.test(url)) return []
  if (!isPostgresUrl(url)) {
    const fix =
      'leave it out (SQLite in data_dir), name a SQLite file with file:PATH, a database with postgres://…, or a hub with https://HOST:PORT'
    return [mistakeAt(pointer, 'no store that this version can open', fix)]
  }
  const read = readPostgresUrl(url)
  return read.ok ? [] : [mistakeAt(pointer, read.problem, read.fix)]
}

function checkRouteNames({ routes }: Config): readonly LocatedMistake[] {
  return repeatedItems(routes, ({ name }) => name).map(([index, first, name]) =>
    mistakeAt(`/routes/${index}/name`, `the route name "${name}" is used by routes[${first}] too`, 'names are unique'),
  )
}

function checkRouteMatches({ routes }: Config): readonly LocatedMistake[] {
  return repeatedItems(routes, matchKey).map(([index, first]) =>
    mistakeAt(
      `/routes/${index}/match`,
      `routes[${first}] ("${routes[first]?.name}") matches the same host and path, so this route gets no call`,
      'give them different paths or hosts',
    ),
  )
}

function matchKey({ match }: RouteConfig): string {
  return `${match.host?.toLowerCase() ?? ''} ${match.path.replace(/\/+$/, '')}`
}

/** Only a route with a host can take the destination from the request. */
function checkRoutesSomewhere({ routes }: Config): readonly LocatedMistake[] {
  return routes.flatMap(({ name, match, upstream }, index) =>
    upstream === undefined && match.host === undefined
      ? [
          mistakeAt(
            `/routes/${index}`,
            `the route "${name}" has neither an upstream nor a host, so its calls could go anywhere`,
            'add upstream: URL for calls to the gateway, or match: { host: … } for calls through it',
          ),
        ]
      : [],
  )
}

/** A route to our own proxy listener would call itself in a loop. */
function checkOwnUpstreams({ listen, routes }: Config): readonly LocatedMistake[] {
  const own = parseAddress(listen.proxy)
  return routes.flatMap(({ upstream }, index) => {
    if (upstream === undefined || !URL.canParse(upstream)) return []
    const { hostname, port } = new URL(upstream)
    const host = hostname.replace(/^\[|\]$/g, '')
    const isOwn =
      Number(port) === own.port && own.port !== 0 && (host === own.host || (isLoopback(host) && isLocalListener(own)))
    return isOwn
      ? [
          mistakeAt(
            `/routes/${index}/upstream`,
            'the upstream is this gateway’s own proxy listener',
            'name the server that it should forward to',
          ),
        ]
      : []
  })
}

function isLocalListener({ host }: Address): boolean {
  return isLoopback(host) || isWildcard(host)
}

function checkRepository({ diff }: Config): readonly LocatedMistake[] {
  if (diff.repository === undefined) return []
  const candidates = [join(diff.repository, '.git'), join(diff.repository, 'objects')]
  const isRepository = candidates.some((path) => statsOf(path) !== null)
  return isRepository
    ? []
    : [
        mistakeAt(
          '/diff/repository',
          `${diff.repository} is not a git repository`,
          'name a working directory or a bare repository',
        ),
      ]
}

/** Items whose key an earlier item has: their index, the earlier index, the key. */
function repeatedItems<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
): readonly (readonly [index: number, first: number, key: string])[] {
  const keys = items.map(keyOf)
  return keys.flatMap((key, index) => {
    const first = keys.indexOf(key)
    return first === index ? [] : [[index, first, key] as const]
  })
}
