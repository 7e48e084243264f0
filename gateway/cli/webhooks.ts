/**
 * `preflight webhooks remove`: removes webhook configurations from the cluster that this pod runs in, before the pods that
 * answer them are removed. With failurePolicy Fail, a webhook without a pod would refuse every write that it names.
 */
import { join } from 'node:path'
import { StartupError, messageOf } from '../errors/startup-error.ts'
import { https } from '../runtime/node-tls.ts'
import { readRegularFile } from '../runtime/regular-file.ts'
import { variable } from '../settings/environment.ts'
import { EXIT, UsageError, type Command, type CommandGroup } from './command.ts'
import { writeLine, type CommandIo } from './io.ts'

const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount'
const KINDS = {
  mutating: 'mutatingwebhookconfigurations',
  validating: 'validatingwebhookconfigurations',
} as const
const TIMEOUT_MS = 10_000

const remove: Command = {
  name: 'remove',
  summary: 'Remove webhook configurations of this release from the cluster.',
  operands: 'KIND/NAME…',
  operandCount: [1, 20],
  options: [
    { name: 'service-account', value: 'DIR', help: `Token and authority of the API server; default: ${FOLDER}.` },
  ],
  notes: [
    'KIND is mutating or validating. One that does not exist counts as removed.',
    '',
    'Exit codes: 0 all are removed, 2 usage, or the API server refuses or cannot be reached.',
  ].join('\n'),
  run: async (args, io) => {
    const named = args.operands.map(configurationOf)
    const cluster = clusterOf(args.value('service-account') ?? FOLDER, io)
    for (const { resource, name } of named) {
      const path = `/apis/admissionregistration.k8s.io/v1/${resource}/${encodeURIComponent(name)}`
      const status = await statusOf('DELETE', path, cluster)
      if (status !== 404 && (status < 200 || status > 299))
        throw new StartupError(`The API server answered ${status} to the removal of ${resource}/${name}.`)
      writeLine(io.stdout, `${resource}/${name}: ${status === 404 ? 'was not there' : 'removed'}`)
    }
    return EXIT.good
  },
}

export const webhooksGroup: CommandGroup = {
  name: 'webhooks',
  summary: 'Webhook configurations of a Kubernetes cluster.',
  commands: [remove],
}

interface Configuration {
  readonly resource: string
  readonly name: string
}

function configurationOf(operand: string): Configuration {
  const [kind = '', name = '', ...more] = operand.split('/')
  const resource = Object.hasOwn(KINDS, kind) ? KINDS[kind === 'mutating' ? 'mutating' : 'validating'] : undefined
  if (resource === undefined || name === '' || more.length > 0)
    throw new UsageError(`${JSON.stringify(operand)} is not mutating/NAME or validating/NAME`)
  return { resource, name }
}

interface ClusterAccess {
  readonly host: string
  readonly port: string
  readonly ca: string
  readonly token: string
}

function clusterOf(folder: string, { environment }: CommandIo): ClusterAccess {
  const host = variable(environment, 'KUBERNETES_SERVICE_HOST')
  const port = variable(environment, 'KUBERNETES_SERVICE_PORT')
  if (host === null || port === null)
    throw new StartupError('KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this is not a pod.')
  try {
    const [ca, token] = [
      readRegularFile(join(folder, 'ca.crt'), 'utf8'),
      readRegularFile(join(folder, 'token'), 'utf8'),
    ]
    return { host, port, ca, token: token.trim() }
  } catch (error) {
    throw new StartupError(`The service account ${folder} cannot be read: ${messageOf(error)}.`, { cause: error })
  }
}

function statusOf(method: string, path: string, { host, port, ca, token }: ClusterAccess): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json' }
    const request = https().request({ host, port, ca, method, path, headers, timeout: TIMEOUT_MS }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0))
    })
    request.on('timeout', () => request.destroy(new Error('it did not answer in time')))
    request.on('error', (error) =>
      reject(new StartupError(`The API server ${host}:${port} cannot be reached: ${error.message}.`, { cause: error })),
    )
    request.end()
  })
}
