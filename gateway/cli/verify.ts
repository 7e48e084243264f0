/**
 * `preflight verify`: verifies a receipt offline, with a saved key set (docs/reference/receipts.md#verification-steps). The
 * state of the receipt comes from a status list; without one it is not checked, and the answer says so.
 */
import {
  verifyReceipt,
  type IntendedContext,
  type ReceiptClaims,
  type ReceiptVerification,
  type VerifyInput,
} from '../../engine/internal.ts'
import { fetchDocument } from '../network/fetch.ts'
import { inflateZlib } from '../runtime/inflate.ts'
import { sha256Hex } from '../runtime/hash.ts'
import { parseKeySet } from '../keys/jwks.ts'
import { systemClock } from '../keys/key-ring.ts'
import { printable } from '../report/printable.ts'
import {
  columns,
  EXIT,
  InputError,
  UsageError,
  type Arguments,
  type Command,
  type ExitCode,
  type OptionSpec,
  statedContext,
} from './command.ts'
import { jsonOf, textFile } from './documents.ts'
import { readStream, writeLine, type CommandIo } from './io.ts'

const CONTEXT_OPTIONS = [
  {
    name: 'operation',
    member: 'operation',
    value: 'NAME',
    help: 'The intended operation; required for an authorization.',
  },
  { name: 'environment', member: 'environment', value: 'NAME', help: 'Environment of the operation.' },
  { name: 'target-id', member: 'target_id', value: 'ID', help: 'Target of the operation.' },
  { name: 'repository', member: 'repository', value: 'NAME', help: 'Repository of the change.' },
  { name: 'branch', member: 'branch', value: 'NAME', help: 'Branch of the change.' },
  { name: 'pull-request', member: 'pull_request', value: 'ID', help: 'Pull request of the change.' },
  { name: 'base', member: 'base', value: 'REF', help: 'Base of the change.' },
  { name: 'head', member: 'head', value: 'REF', help: 'Head of the change.' },
  { name: 'fingerprint', member: 'fingerprint', value: 'HASH', help: 'Expected verdict fingerprint.' },
  {
    name: 'input-fingerprint',
    member: 'input_fingerprint',
    value: 'HASH',
    help: 'Expected fingerprint of the change set.',
  },
  {
    name: 'artifact-digest',
    member: 'artifact_digest',
    value: 'HASH',
    help: 'Expected digest of the artifacts.',
  },
  { name: 'tenant', member: 'tenant', value: 'NAME', help: 'Expected tenant of the receipt.' },
  { name: 'audience', member: 'audience', value: 'V', help: 'Expected audience: the requester of the decision, v:….' },
] as const satisfies readonly (OptionSpec & { readonly member: keyof IntendedContext })[]

export const verifyCommand: Command = {
  name: 'verify',
  summary: 'Verify a receipt offline against a key set.',
  operands: 'TOKEN',
  operandCount: [1, 1],
  options: [
    { name: 'keys', value: 'FILE', isRequired: true, help: 'Key set: the answer of /.well-known/jwks.json.' },
    {
      name: 'envelope',
      value: 'FILE',
      help: 'The decision_result that came with the token; it must match the signed hash.',
    },
    {
      name: 'status',
      value: 'FILE|URL',
      help: 'Status list that the receipt names: a file, an address, or the origin of the gateway. It shows revocation, supersession and use.',
    },
    ...CONTEXT_OPTIONS.map(({ name, value, help }) => ({ name, value, help })),
    { name: 'format', value: 'FORMAT', allowed: ['text', 'json'], help: 'Output format; default: text.' },
  ],
  notes: [
    'TOKEN: the receipt, or - to read it from standard input.',
    'Revocation, supersession and single use are checked with --status only, as of the time of the list.',
    'With --status, a list that cannot be read, has expired or is another one authorizes nothing.',
    '',
    'Exit codes: 0 authorized for the stated operation, 1 not, 2 usage or unreadable keys.',
  ].join('\n'),
  run: runVerify,
}

async function runVerify(args: Arguments, io: CommandIo): Promise<ExitCode> {
  const [operand = ''] = args.operands
  const token = (operand === '-' ? await readStream(io.stdin) : operand).trim()
  const keysFile = args.value('keys') ?? ''
  const keys = parseKeySet(jsonOf(textFile(keysFile), keysFile))
  if (!keys.ok) throw new InputError(`${keysFile}: ${keys.problem.message}`)
  const envelopeFile = args.value('envelope')
  const input: VerifyInput = {
    token,
    keys: keys.value,
    now: systemClock(),
    ...(envelopeFile === undefined ? {} : { envelope: envelopeIn(jsonOf(textFile(envelopeFile), envelopeFile)) }),
    context: statedContext(args, CONTEXT_OPTIONS),
    state: 'unchecked',
    sha256: sha256Hex,
  }
  const authentic = verifyReceipt(input)
  const source = args.value('status')
  // A token that is not ours must not decide what is fetched.
  const { payload } = authentic
  const answer =
    source === undefined || payload === null
      ? authentic
      : verifyReceipt({ ...input, statusList: { token: await statusList(source, payload, io), inflate: inflateZlib } })
  writeLine(io.stdout, args.value('format') === 'json' ? JSON.stringify(answer, null, 2) : verificationText(answer))
  return answer.currently_authorized === true ? EXIT.good : EXIT.no
}

const STATUS_PATH = '/.well-known/status/'
const MAX_STATUS_BYTES = 2_000_000

/**
 * The text of the status list; empty when it cannot be fetched, and then the receipt authorizes nothing. An address without a
 * path is the gateway's origin: the list is the one that the receipt names.
 */
async function statusList(source: string, { status }: ReceiptClaims, io: CommandIo): Promise<string> {
  if (!/^https?:/i.test(source)) return textFile(source).trim()
  const url = URL.parse(source)
  if (url === null) throw new UsageError(`--status ${JSON.stringify(source)} is not an http(s) address`)
  if (url.pathname === '/') url.pathname = STATUS_PATH + listNameOf(status?.status_list.uri ?? '')
  const rules = { allowedHosts: null, isPermitted: () => true, maxBytes: MAX_STATUS_BYTES }
  const fetched = await fetchDocument(url.href, { ...rules, accept: 'application/statuslist+jwt' })
  if (fetched.ok) return fetched.value.trim()
  writeLine(io.stderr, `--status ${source}: ${fetched.problem.message}`)
  return ''
}

/** The last segment of the list's name: a path segment of an address, or the UUID of a URN. */
function listNameOf(uri: string): string {
  return encodeURIComponent(uri.split(/[/:]/).at(-1) ?? '')
}

/** A saved authorize answer holds the envelope as `decision_result`. */
function envelopeIn(value: unknown): unknown {
  const isAnswer = typeof value === 'object' && value !== null && 'decision_result' in value
  return isAnswer ? value.decision_result : value
}

function verificationText(answer: ReceiptVerification): string {
  const { payload } = answer
  const claims: readonly (readonly [string, string])[] =
    payload === null
      ? []
      : [
          ['decision', payload.jti],
          ['action', payload.act],
          ['operation', payload.op ?? '(none)'],
          ['environment', payload.env ?? '(none)'],
          ['target', payload.tgt ?? '(none)'],
          ['expires', new Date(payload.exp * 1000).toISOString()],
        ]
  const verdict = answer.currently_authorized === true ? 'AUTHORIZED' : 'NOT AUTHORIZED'
  return [
    `${verdict}: ${answer.status}${answer.authz_reason === null ? '' : ` (${answer.authz_reason})`}`,
    ...(answer.authz_note === null ? [] : [answer.authz_note]),
    ...columns(claims.map(([name, value]) => [name, printable(value)])),
  ].join('\n')
}
