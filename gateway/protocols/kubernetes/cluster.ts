/** The gateway's own questions to the API server behind a route, asked as the caller of one write. Reads and rehearses; never writes. */
import { GatewayError } from '../../errors/errors.ts'
import type { Upstreams } from '../../upstream/pools.ts'
import type { Call } from '../../calls/call.ts'
import { askAsCaller, lookupFault, type CallerAnswer, type CallerRequest } from '../common/caller-request.ts'
import { isJsonObject, readStrictJson } from '../../json/strict-json.ts'

export interface ClusterAnswer extends Omit<CallerAnswer, 'body'> {
  /** As it came, for the caller when the API server refuses. */
  readonly body: string
  /** The body when it is a JSON object. */
  readonly value: Readonly<Record<string, unknown>> | null
}

export interface Cluster {
  /** @param path at the upstream, without query. Rejects with PREFLIGHT_UNDECIDED when there is no answer. */
  read(call: Call, path: string): Promise<ClusterAnswer>
  /** The write itself with dryRun=All: what would be stored, admission and defaults included, and nothing is. */
  rehearse(call: Call): Promise<ClusterAnswer>
}

export function createCluster(upstreams: Upstreams): Cluster {
  const ask = async (call: Call, question: Omit<CallerRequest, 'accept'>): Promise<ClusterAnswer> => {
    try {
      const answer = await askAsCaller(call, { ...question, accept: 'application/json' }, upstreams)
      const json = readStrictJson(answer.body)
      const value = json.ok && isJsonObject(json.value) ? json.value : null
      return { ...answer, body: answer.body.toString('utf8'), value }
    } catch (error) {
      const message = `The API server could not be asked about this write: ${lookupFault(error)}.`
      throw new GatewayError('PREFLIGHT_UNDECIDED', message, { cause: error })
    }
  }
  return {
    read: (call, path) => ask(call, { method: 'GET', path, body: null }),
    rehearse: (call) => ask(call, { method: call.method, path: rehearsalPath(call.upstreamPath), body: call.body }),
  }
}

function rehearsalPath(target: string): string {
  return `${target}${target.includes('?') ? '&' : '?'}dryRun=All`
}
