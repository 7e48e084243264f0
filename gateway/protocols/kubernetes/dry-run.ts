/**
 * Whether the server of an API keeps dry runs. The API server does, for what Kubernetes brings and for custom resources. A
 * server behind an aggregated API may ignore the parameter, so that the dry run is the write itself.
 */
import type { Call } from '../../calls/call.ts'
import { isJsonObject } from '../../json/strict-json.ts'
import { recordIn } from '../../json/unchecked-json.ts'
import type { Cluster } from './cluster.ts'
import { knownKind } from './kinds.ts'
import type { ResourcePath } from './path.ts'

/**
 * Looked up where kubectl looks it up before `--dry-run=server`: in the description of the API that its server publishes.
 * Synchronous for what Kubernetes itself brings. Never rejects: what is not stated is not so.
 * @param base path of the route's upstream, which the API stands under
 */
export function keepsDryRuns(
  call: Call,
  path: ResourcePath,
  base: string,
  cluster: Pick<Cluster, 'read'>,
): true | Promise<boolean> {
  return knownKind(path) !== null || statesDryRun(call, path, base, cluster)
}

async function statesDryRun(
  call: Call,
  { group, version, resource }: ResourcePath,
  base: string,
  cluster: Pick<Cluster, 'read'>,
): Promise<boolean> {
  const root = base.endsWith('/') ? base.slice(0, -1) : base
  const api = group === '' ? `api/${version}` : `apis/${group}/${version}`
  try {
    const { status, value } = await cluster.read(call, `${root}/openapi/v3/${api}`)
    const paths = Object.entries(recordIn(status === 200 ? value?.['paths'] : null))
    const item = paths.find(([path]) => path.startsWith(`/${api}/`) && path.endsWith(`/${resource}/{name}`))?.[1]
    const { parameters } = recordIn(recordIn(item)['patch'])
    return Array.isArray(parameters) && parameters.some(isDryRun)
  } catch {
    return false
  }
}

function isDryRun(parameter: unknown): boolean {
  return isJsonObject(parameter) && parameter['name'] === 'dryRun' && parameter['in'] === 'query'
}
