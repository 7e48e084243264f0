/**
 * `preflight webhooks`: commands of the chart's Jobs. `remove` takes webhook configurations away before the pods that answer
 * them; `certify` makes and rotates the certificate of those pods, and has the API server trust it.
 */
import { isJsonObject, type JsonObject } from '../json/strict-json.ts'
import { recordIn } from '../json/unchecked-json.ts'
import {
  askCluster,
  clusterAccess,
  refusedBy,
  SERVICE_ACCOUNT,
  type ClusterAccess,
} from '../kubernetes/cluster-access.ts'
import type { PairTexts } from '../kubernetes/webhook-pair.ts'
import {
  EXIT,
  UsageError,
  type Arguments,
  type Command,
  type CommandGroup,
  type OptionSpec,
  positiveInteger,
} from './command.ts'
import { writeLine, type CommandIo } from './io.ts'

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1'
const KINDS = new Map([
  ['mutating', 'mutatingwebhookconfigurations'],
  ['validating', 'validatingwebhookconfigurations'],
])
const NAME = /^[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?$/

const ACCOUNT: OptionSpec = {
  name: 'service-account',
  value: 'DIR',
  help: `Token and authority of the API server; default: ${SERVICE_ACCOUNT}.`,
}

const remove: Command = {
  name: 'remove',
  summary: 'Remove webhook configurations of this release from the cluster.',
  operands: 'KIND/NAME…',
  operandCount: [1, 20],
  options: [ACCOUNT],
  notes: [
    'KIND is mutating or validating. One that does not exist counts as removed.',
    '',
    'Exit codes: 0 all are removed, 2 usage, or the API server refuses or cannot be reached.',
  ].join('\n'),
  run: async (args, io) => {
    const places = args.operands.map(configurationOf)
    const cluster = clusterOf(args, io)
    for (const { path, label } of places) {
      const answer = await askCluster(cluster, { method: 'DELETE', path })
      if (answer.status !== 404 && !isGood(answer)) refusedBy(answer, `the removal of ${label}`)
      writeLine(io.stdout, `${label}: ${answer.status === 404 ? 'was not there' : 'removed'}`)
    }
    return EXIT.good
  },
}

const certify: Command = {
  name: 'certify',
  summary:
    'Make or rotate the self-signed certificate of the webhooks, and write its authority into their configurations.',
  operands: '[KIND/NAME…]',
  operandCount: [0, 20],
  options: [
    { name: 'secret', value: 'SECRET', isRequired: true, help: 'Secret with the certificate, NAMESPACE/NAME.' },
    { name: 'host', value: 'HOST', isRequired: true, isRepeatable: true, help: 'Name that the certificate is for.' },
    { name: 'days', value: 'N', help: 'Life of a certificate; default: 365.' },
    ACCOUNT,
  ],
  notes: [
    'KIND is mutating or validating. One that does not exist is left out: it is written at the next run.',
    'In the last third of its life the next certificate is prepared, and clients trust it. In the last sixth it takes over.',
    '',
    'Exit codes: 0 done, 2 usage, or the API server refuses or cannot be reached.',
  ].join('\n'),
  run: async (args, io) => {
    const secret = secretOf(args.value('secret') ?? '')
    const configurations = args.operands.map(configurationOf)
    const terms = { hosts: args.values('host'), days: positiveInteger(args, 'days', 365), now: Date.now() }
    const cluster = clusterOf(args, io)
    const stored = await readClusterObject(secret, cluster)
    const { rotatedPair } = await import('../kubernetes/webhook-pair.ts')
    const { change, texts, endsAt } = await rotatedPair(pemMembers(stored), terms)
    if (change !== 'kept') await writeSecret(secret, stored, texts, cluster)
    writeLine(io.stdout, `${secret.label}: ${change}, valid until ${new Date(endsAt).toISOString()}`)
    const bundle = Buffer.from(texts['ca.crt'] ?? '').toString('base64')
    for (const configuration of configurations)
      writeLine(io.stdout, `${configuration.label}: ${await trust(configuration, bundle, cluster)}`)
    return EXIT.good
  },
}

export const webhooksGroup: CommandGroup = {
  name: 'webhooks',
  summary: 'Webhook configurations of a Kubernetes cluster, and their certificate.',
  commands: [remove, certify],
}

interface ObjectPlace {
  readonly path: string
  /** The collection that it is created in. */
  readonly folder: string
  readonly name: string
  readonly namespace: string | null
  readonly label: string
}

function configurationOf(operand: string): ObjectPlace {
  const [kind = '', name = '', ...more] = operand.split('/')
  const resource = KINDS.get(kind)
  if (resource === undefined || !NAME.test(name) || more.length > 0)
    throw new UsageError(`${JSON.stringify(operand)} is not mutating/NAME or validating/NAME`)
  const folder = `${CONFIGURATIONS}/${resource}`
  return { path: `${folder}/${name}`, folder, name, namespace: null, label: `${resource}/${name}` }
}

function secretOf(text: string): ObjectPlace {
  const [namespace = '', name = '', ...more] = text.split('/')
  if (!NAME.test(namespace) || !NAME.test(name) || more.length > 0)
    throw new UsageError(`--secret ${JSON.stringify(text)} is not NAMESPACE/NAME`)
  const folder = `/api/v1/namespaces/${namespace}/secrets`
  return { path: `${folder}/${name}`, folder, name, namespace, label: `secrets/${name}` }
}

function clusterOf(args: Arguments, { environment }: CommandIo): ClusterAccess {
  return clusterAccess(args.value('service-account') ?? SERVICE_ACCOUNT, environment)
}

function isGood({ status }: { readonly status: number }): boolean {
  return status >= 200 && status <= 299
}

/** Null: there is none. */
async function readClusterObject({ path, label }: ObjectPlace, cluster: ClusterAccess): Promise<JsonObject | null> {
  const answer = await askCluster(cluster, { method: 'GET', path })
  if (answer.status === 404) return null
  if (!isGood(answer)) refusedBy(answer, `the reading of ${label}`)
  const object: unknown = JSON.parse(answer.body)
  return recordIn(object)
}

function pemMembers(secret: JsonObject | null): PairTexts {
  const stored = isJsonObject(secret?.['data']) ? secret['data'] : {}
  return Object.fromEntries(
    Object.entries(stored).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, Buffer.from(value, 'base64').toString('utf8')] as const] : [],
    ),
  )
}

/** The version of the object that was read goes along, so that two concurrent runs do not mix their halves. */
async function writeSecret(
  { path, folder, name, namespace, label }: ObjectPlace,
  stored: JsonObject | null,
  texts: PairTexts,
  cluster: ClusterAccess,
): Promise<void> {
  const data = Object.fromEntries(
    Object.entries(texts).map(([member, text]) => [member, Buffer.from(text).toString('base64')]),
  )
  const fresh = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, type: 'kubernetes.io/tls' }
  const answer = await askCluster(
    cluster,
    stored === null
      ? { method: 'POST', path: folder, body: { ...fresh, data } }
      : { method: 'PUT', path, body: { ...stored, data } },
  )
  if (!isGood(answer)) refusedBy(answer, `the writing of ${label}`)
}

/** Every webhook of the configuration trusts the authorities; another writer in between makes it fail, and a Job tries again. */
async function trust(place: ObjectPlace, bundle: string, cluster: ClusterAccess): Promise<string> {
  const configuration = await readClusterObject(place, cluster)
  if (configuration === null) return 'is not there yet'
  const { webhooks, metadata } = configuration
  const changes = (Array.isArray(webhooks) ? webhooks : []).flatMap((webhook: unknown, index) => {
    const client = recordIn(recordIn(webhook)['clientConfig'])
    if (client['caBundle'] === bundle) return []
    return [{ op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value: bundle }]
  })
  if (changes.length === 0) return 'trusts it already'
  const version = isJsonObject(metadata) ? metadata['resourceVersion'] : undefined
  const body = [{ op: 'test', path: '/metadata/resourceVersion', value: version }, ...changes]
  const answer = await askCluster(cluster, { method: 'PATCH', path: place.path, body })
  if (!isGood(answer)) refusedBy(answer, `the change of ${place.label}`)
  return 'trusts it now'
}
