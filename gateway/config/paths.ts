/** Makes the paths of a configuration absolute: relative paths of files start at the directory of the configuration file. */
import type { GraphqlSection } from '../protocols/graphql/settings.ts'
import { resolve } from 'node:path'
import type { RouteConfig } from '../protocols/route.ts'
import type { ContractSource } from '../routing/route.ts'
import type { Config } from './schema.ts'
import type { DecisionSink } from '../telemetry/decision-log/settings.ts'
import type { ListenerTls } from '../tls/settings.ts'

/** Contract files, certificates and the repository; data_dir and store stay relative to the working directory. */
export function withPaths(config: Config, directory: string): Config {
  const { diff, tls, scm, decision_log: decisionLog } = config
  const from = (path: string): string => resolve(directory, path)
  return {
    ...config,
    diff: { ...diff, ...(diff.repository === undefined ? {} : { repository: from(diff.repository) }) },
    tls: {
      ...tls,
      ...(tls.bundle_file === undefined ? {} : { bundle_file: from(tls.bundle_file) }),
      listeners: Object.fromEntries(
        Object.entries(tls.listeners).map(([name, files]) => [name, filesWithPaths(files, from)]),
      ),
      ...(tls.ca === undefined ? {} : { ca: { certificate: from(tls.ca.certificate), key: from(tls.ca.key) } }),
    },
    decision_log: { ...decisionLog, sinks: decisionLog.sinks.map((sink) => sinkWithPaths(sink, from)) },
    hub: hubWithPaths(config.hub, from),
    store: { ...config.store, hub: accessWithPaths(config.store.hub, from) },
    scm: scmWithPaths(scm, from),
    routes: config.routes.map((route) => routeWithPaths(route, from)),
  }
}

function sinkWithPaths(sink: DecisionSink, from: (path: string) => string): DecisionSink {
  if (sink.type === 'file') return { ...sink, path: from(sink.path) }
  return sink.type === 'syslog' && sink.ca !== undefined ? { ...sink, ca: from(sink.ca) } : sink
}

function filesWithPaths(files: ListenerTls, from: (path: string) => string): ListenerTls {
  const { certificate, key, client_ca: clientCa } = files
  return {
    ...files,
    certificate: from(certificate),
    key: from(key),
    ...(clientCa === undefined ? {} : { client_ca: from(clientCa) }),
  }
}

function hubWithPaths(hub: Config['hub'], from: (path: string) => string): Config['hub'] {
  const { tokens } = hub
  if (tokens === undefined) return hub
  const { keys, ca_file: ca, token_file: token } = tokens
  return {
    ...hub,
    tokens: {
      ...tokens,
      keys: /^https?:/.test(keys) ? keys : from(keys),
      ...(ca === undefined ? {} : { ca_file: from(ca) }),
      ...(token === undefined ? {} : { token_file: from(token) }),
    },
  }
}

const ACCESS_FILES = ['token_file', 'key_file', 'ca_file', 'certificate', 'certificate_key'] as const

function accessWithPaths(access: Config['store']['hub'], from: (path: string) => string): Config['store']['hub'] {
  const files = ACCESS_FILES.flatMap((name) => {
    const path = access[name]
    return path === undefined ? [] : [[name, from(path)] as const]
  })
  return { ...access, ...Object.fromEntries(files) }
}

interface PlatformFiles {
  readonly token_file?: string
  readonly webhook?: { readonly secret_file: string }
}

function scmWithPaths(scm: Config['scm'], from: (path: string) => string): Config['scm'] {
  const { github, gitlab, bitbucket } = scm
  const withFiles = <Platform extends PlatformFiles>({ token_file: token, webhook, ...rest }: Platform) => ({
    ...rest,
    ...(token !== undefined && { token_file: from(token) }),
    ...(webhook !== undefined && { webhook: { secret_file: from(webhook.secret_file) } }),
  })
  const { app } = github
  return {
    ...scm,
    github: withFiles(app === undefined ? github : { ...github, app: { ...app, key_file: from(app.key_file) } }),
    gitlab: withFiles(gitlab),
    bitbucket: withFiles(bitbucket),
  }
}

function routeWithPaths(route: RouteConfig, from: (path: string) => string): RouteConfig {
  const source = (given: ContractSource): ContractSource =>
    'file' in given
      ? { ...given, file: from(given.file), ...(given.root !== undefined && { root: from(given.root) }) }
      : given
  const { contract, tls } = route
  return {
    ...route,
    ...(route.protocol === 'graphql' && { graphql: documentsWithPaths(route.graphql, from) }),
    tls: tls.upstream_ca === undefined ? tls : { ...tls, upstream_ca: from(tls.upstream_ca) },
    ...(contract === undefined
      ? {}
      : {
          contract: {
            ...contract,
            ...(contract.baseline === undefined ? {} : { baseline: source(contract.baseline) }),
            ...(contract.current === undefined ? {} : { current: source(contract.current) }),
          },
        }),
  }
}

function documentsWithPaths(graphql: GraphqlSection, from: (path: string) => string): GraphqlSection {
  return graphql.documents === undefined ? graphql : { ...graphql, documents: from(graphql.documents) }
}
