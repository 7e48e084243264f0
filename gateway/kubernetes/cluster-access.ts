/** Requests of a pod to the API server of its cluster, with the token and the authority of its service account. */
import { join } from 'node:path'
import { StartupError, messageOf } from '../errors/startup-error.ts'
import { https } from '../runtime/node-tls.ts'
import { readRegularFile } from '../runtime/regular-file.ts'
import { variable, type Environment } from '../settings/environment.ts'

export const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'
const TIMEOUT_MS = 10_000

export interface ClusterAccess {
  readonly host: string
  readonly port: string
  readonly ca: string
  readonly token: string
}

/** Throws a StartupError where there is no cluster or no readable account. */
export function clusterAccess(folder: string, environment: Environment): ClusterAccess {
  const host = variable(environment, 'KUBERNETES_SERVICE_HOST')
  const port = variable(environment, 'KUBERNETES_SERVICE_PORT')
  if (host === null || port === null)
    throw new StartupError('KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this is not a pod.')
  try {
    const ca = readRegularFile(join(folder, 'ca.crt'), 'utf8')
    const token = readRegularFile(join(folder, 'token'), 'utf8')
    return { host, port, ca, token: token.trim() }
  } catch (error) {
    throw new StartupError(`The service account ${folder} cannot be read: ${messageOf(error)}.`, { cause: error })
  }
}

interface ClusterRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: object
}

interface ApiServerAnswer {
  readonly status: number
  readonly body: string
}

/** Rejects with a StartupError when the API server cannot be reached. A PATCH is a JSON patch. */
export function askCluster(
  { host, port, ca, token }: ClusterAccess,
  { method, path, body }: ClusterRequest,
): Promise<ApiServerAnswer> {
  const sent = body === undefined ? null : Buffer.from(JSON.stringify(body))
  const type = method === 'PATCH' ? 'application/json-patch+json' : 'application/json'
  const headers = {
    authorization: `Bearer ${token}`,
    accept: 'application/json',
    ...(sent !== null && { 'content-type': type, 'content-length': sent.length }),
  }
  return new Promise((resolve, reject) => {
    const request = https().request({ host, port, ca, method, path, headers, timeout: TIMEOUT_MS }, (answer) => {
      const pieces: Buffer[] = []
      answer.on('data', (piece: Buffer) => void pieces.push(piece))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(pieces).toString('utf8') }))
      answer.on('error', reject)
    })
    request.on('timeout', () => request.destroy(new Error('it did not answer in time')))
    request.on('error', (error) =>
      reject(new StartupError(`The API server ${host}:${port} cannot be reached: ${error.message}.`, { cause: error })),
    )
    request.end(sent ?? undefined)
  })
}

/** What the API server says about a refusal; throws it as a StartupError. */
export function refusedBy({ status, body }: ApiServerAnswer, what: string): never {
  const [, message] = /"message":\s*"([^"\\]{1,300})/.exec(body) ?? []
  throw new StartupError(`The API server answered ${status} to ${what}${message === undefined ? '' : `: ${message}`}.`)
}
