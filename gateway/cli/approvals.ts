/** `preflight approvals`: lists and shows requests for approval, grants or denies them, and waits for decisions. */
import type { ApprovalView } from '../approvals/view.ts'
import { GatewayError } from '../errors/errors.ts'
import type { ApprovalDecision, ApprovalState } from '../store/approvals.ts'
import { reviewText } from './approval-text.ts'
import { DEFAULT_INTERVAL, watchApprovals } from './approval-watch.ts'
import { localApprovals, remoteApprovals, type ApprovalsSite } from './approval-sites.ts'
import {
  EXIT,
  type Arguments,
  type Command,
  type CommandGroup,
  type ExitCode,
  type OptionSpec,
  DEFAULT_LIMIT,
  LIMIT,
  positiveInteger,
} from './command.ts'
import { LIST_FORMAT, secondsOf, show, textTable } from './format.ts'
import { writeLine, type CommandIo } from './io.ts'
import { AROUND_FOUR_EYES, remoteOf, SITE_OPTIONS } from './remote.ts'

const TENANT: OptionSpec = {
  name: 'tenant',
  value: 'TENANT',
  help: 'Tenant of the requests in a data directory; default: local.',
}
const STATES = ['pending', 'granted', 'denied', 'expired'] as const satisfies readonly ApprovalState[]
const STATE: OptionSpec = { name: 'state', value: 'STATE', allowed: STATES, help: 'Only requests in this state.' }
const GROUPS: OptionSpec = {
  name: 'groups',
  value: 'NAMES',
  help: 'Your groups, for a data directory, e.g. payments; recorded. Required where the policy names groups of approvers.',
}
const DECIDE_NOTES = `${AROUND_FOUR_EYES}\nExit codes: 0 done, 1 the request does not exist, is already decided or expired, or needs another person.`

const list: Command = {
  name: 'list',
  summary: 'List requests for approval, newest first.',
  operands: '',
  operandCount: [0, 0],
  options: [STATE, LIMIT, TENANT, LIST_FORMAT, ...SITE_OPTIONS],
  run: async (args, io) => {
    const state = STATES.find((known) => known === args.value('state'))
    const views = await approvalsSite(args, io).list(positiveInteger(args, 'limit', DEFAULT_LIMIT), state)
    show(args, io, views, () => approvalTable(views))
    return EXIT.good
  },
}

const showOne: Command = {
  name: 'show',
  summary: 'Show one request: why it is held, what changes, whom it reaches, who may decide.',
  operands: 'ID',
  operandCount: [1, 1],
  options: [TENANT, LIST_FORMAT, ...SITE_OPTIONS],
  notes: 'The change is analysed again under the policy in force.\nExit codes: 0 shown, 1 there is no such request.',
  run: (args, io) =>
    withRefusals(args, io, async () => {
      const review = await approvalsSite(args, io).review(args.operands[0] ?? '')
      show(args, io, review, (value) => reviewText(value, io))
      return EXIT.good
    }),
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
    GROUPS,
    TENANT,
    ...SITE_OPTIONS,
  ],
  notes: DECIDE_NOTES,
  run: (args, io) => decideApproval('granted', args, io),
}

const deny: Command = {
  name: 'deny',
  summary: 'Deny an approval.',
  operands: 'ID',
  operandCount: [1, 1],
  options: [COMMENT, TENANT, ...SITE_OPTIONS],
  notes: DECIDE_NOTES,
  run: (args, io) => decideApproval('denied', args, io),
}

const watch: Command = {
  name: 'watch',
  summary: 'Print requests as they are opened and decided; with ID, wait until that one is decided.',
  operands: '[ID]',
  operandCount: [0, 1],
  options: [
    { name: 'interval', value: 'SECONDS', help: `Time between two checks; default: ${DEFAULT_INTERVAL}.` },
    { name: 'timeout', value: 'SECONDS', help: 'End after this time; default: never.' },
    TENANT,
    LIST_FORMAT,
    ...SITE_OPTIONS,
  ],
  notes:
    'json prints one request a line. An interruption of the connection is reported, and the command goes on.\n' +
    'Exit codes with ID: 0 granted, 1 denied, expired or unknown, 3 not decided in time. Without ID: 0 at the end of the time.',
  run: (args, io) => withRefusals(args, io, () => watchApprovals(approvalsSite(args, io), args, io)),
}

export const approvalsGroup: CommandGroup = {
  name: 'approvals',
  summary: 'Requests for approval: list, show, grant, deny, watch.',
  commands: [list, showOne, grant, deny, watch],
}

function approvalsSite(args: Arguments, io: CommandIo): ApprovalsSite {
  const remote = remoteOf(args, io, ['tenant', 'groups'])
  return remote === null ? localApprovals(args, io) : remoteApprovals(remote)
}

function decideApproval(state: ApprovalDecision['state'], args: Arguments, io: CommandIo): Promise<ExitCode> {
  const [id = ''] = args.operands
  const validity = args.value('validity') === undefined ? null : positiveInteger(args, 'validity', 1)
  return withRefusals(args, io, async () => {
    const decided = await approvalsSite(args, io).decide(id, { state, comment: args.value('comment') ?? '', validity })
    const until = decided.valid_until
    const text =
      decided.state === 'pending'
        ? `your grant of ${id} is counted; further people have to grant it`
        : `${decided.state} ${id}${until === null ? '' : `, valid until ${secondsOf(until)}`}`
    writeLine(io.stdout, text)
    return EXIT.good
  })
}

/** A refusal of the gateway is an answer: its message and exit code 1. */
async function withRefusals(args: Arguments, io: CommandIo, run: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof GatewayError) || !REFUSED.has(error.code)) throw error
    const missing = `there is no approval request ${args.operands[0] ?? ''}; see: preflight approvals list`
    writeLine(io.stderr, error.code === 'NOT_FOUND' ? missing : error.message)
    return EXIT.no
  }
}

const REFUSED: ReadonlySet<string> = new Set(['NOT_FOUND', 'APPROVAL_CONFLICT', 'FORBIDDEN'])

function approvalTable(views: readonly ApprovalView[]): string {
  return textTable(
    ['ID', 'STATE', 'OPENED', 'EXPIRES', 'OPERATION', 'WHERE', 'GROUPS', 'RISK', 'SUMMARY'],
    views.map((view) => [
      view.id,
      view.state,
      secondsOf(view.opened_at),
      secondsOf(view.valid_until ?? view.expires_at),
      view.operation ?? '',
      view.target_id ?? view.repository ?? view.route ?? '',
      view.approver_groups.flat().join(', '),
      String(view.risk_score),
      view.summary,
    ]),
  )
}
