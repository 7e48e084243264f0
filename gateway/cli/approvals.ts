/**
 * `preflight approvals`: lists requests for approval, and grants or denies them. Any user with write access to the data
 * directory may decide.
 */
import { userInfo } from 'node:os'
import { approverWords } from '../store/approvers.ts'
import { approvalState } from '../approvals/request.ts'
import { completeApproval } from '../approvals/resolve.ts'
import { approvalView } from '../approvals/view.ts'
import { GatewayError } from '../errors/errors.ts'
import { LOCAL_TENANT } from '../callers/api-keys.ts'
import type { ApprovalRow, ApprovalDecision, ApprovalState } from '../store/approvals.ts'
import { EXIT, type Arguments, type Command, type CommandGroup, type ExitCode } from './command.ts'
import { placeConfigOf, PLACE_OPTIONS } from './config-option.ts'
import { DEFAULT_LIMIT, LIMIT, positiveInteger } from './number-options.ts'
import { instant, LIST_FORMAT, show, table } from './format.ts'
import { writeLine, type CommandIo } from './io.ts'
import { withStore } from './data-directory.ts'
import { groupsOf } from './keys.ts'

const TENANT = { name: 'tenant', value: 'TENANT', help: 'Tenant of the requests; default: local.' }
const STATES = ['pending', 'granted', 'denied', 'expired'] as const satisfies readonly ApprovalState[]

const NOTES =
  'Recorded as cli:USER, with the groups given. Needs write access to the data directory. Four eyes are enforced by the API only, ' +
  'where each approver has a key.\nExit codes: 0 done, 1 the request does not exist, is already decided or expired, or needs another group.'

const list: Command = {
  name: 'list',
  summary: 'List requests for approval, newest first.',
  operands: '',
  operandCount: [0, 0],
  options: [
    { name: 'state', value: 'STATE', allowed: STATES, help: 'Only requests in this state.' },
    LIMIT,
    TENANT,
    LIST_FORMAT,
    ...PLACE_OPTIONS,
  ],
  run: async (args, io) => {
    const now = Date.now()
    const state = STATES.find((known) => known === args.value('state'))
    const limit = positiveInteger(args, 'limit', DEFAULT_LIMIT)
    const filter = { tenant: tenantOf(args), limit, now, ...(state === undefined ? {} : { state }) }
    const rows = await withStore(args, io, (store) => store.approvals.list(filter))
    show(
      args,
      io,
      rows.map((row) => approvalView(row, now)),
      () => approvalTable(rows, now),
    )
    return EXIT.good
  },
}

const COMMENT = { name: 'comment', value: 'TEXT', help: 'The reason; stored with the request.' }

const grant: Command = {
  name: 'grant',
  summary: 'Grant an approval: the next preflight of the same change continues with monitoring.',
  operands: 'ID',
  operandCount: [1, 1],
  options: [
    COMMENT,
    {
      name: 'validity',
      value: 'SECONDS',
      help: 'Validity of the grant; default and maximum: approvals.validity.',
    },
    {
      name: 'groups',
      value: 'NAMES',
      help: 'Your groups, e.g. payments; recorded. Required where the policy names groups of approvers.',
    },
    TENANT,
    ...PLACE_OPTIONS,
  ],
  notes: NOTES,
  run: (args, io) => decideApproval('granted', args, io),
}

const deny: Command = {
  name: 'deny',
  summary: 'Deny an approval.',
  operands: 'ID',
  operandCount: [1, 1],
  options: [COMMENT, TENANT, ...PLACE_OPTIONS],
  notes: NOTES,
  run: (args, io) => decideApproval('denied', args, io),
}

export const approvalsGroup: CommandGroup = {
  name: 'approvals',
  summary: 'Requests for approval: list, grant, deny.',
  commands: [list, grant, deny],
}

async function decideApproval(state: ApprovalDecision['state'], args: Arguments, io: CommandIo): Promise<ExitCode> {
  const [approvalId = ''] = args.operands
  const word = {
    state,
    tenant: tenantOf(args),
    approvalId,
    by: `cli:${userInfo().username}`,
    groups: groupsOf(args),
    comment: args.value('comment') ?? '',
    validity: args.value('validity') === undefined ? null : positiveInteger(args, 'validity', 1),
    at: Date.now(),
  }
  try {
    const row = await withStore(args, io, (store) => completeApproval(word, placeConfigOf(args, io), store))
    const until = row.result?.validUntil ?? null
    writeLine(io.stdout, `${state} ${approvalId}${until === null ? '' : `, valid until ${instant(until)}`}`)
    return EXIT.good
  } catch (error) {
    if (!(error instanceof GatewayError) || !REFUSED.has(error.code)) throw error
    const missing = `there is no approval request ${approvalId}; see: preflight approvals list`
    writeLine(io.stderr, error.code === 'NOT_FOUND' ? missing : error.message)
    return EXIT.no
  }
}

const REFUSED: ReadonlySet<string> = new Set(['NOT_FOUND', 'APPROVAL_CONFLICT', 'FORBIDDEN'])

function tenantOf(args: Arguments): string {
  return args.value('tenant') ?? LOCAL_TENANT
}

function approvalTable(rows: readonly ApprovalRow[], now: number): string {
  return table(
    ['ID', 'STATE', 'OPENED', 'EXPIRES', 'OPERATION', 'WHERE', 'GROUPS', 'RISK', 'SUMMARY'],
    rows.map((row) => [
      row.approvalId,
      approvalState(row, now),
      instant(row.openedAt),
      instant(row.result?.validUntil ?? row.expiresAt),
      row.operation ?? '',
      row.targetId ?? row.repository ?? '',
      approverWords(row.approvers),
      String(row.riskScore),
      row.summary,
    ]),
  )
}
