/** Where requests for approval are: in a running gateway, reached over its API, or in the data directory of one. Both give the same views. */
import { Type } from '../../engine/base.ts'
import {
  Approval,
  ApprovalAnswer,
  ApprovalReviewAnswer,
  denyApproval,
  grantApproval,
  listApprovals,
  reviewApproval,
} from '../api/routes/approvals.ts'
import { nullable } from '../api/schemas/shapes.ts'
import { approvalAct, completeApproval } from '../approvals/decide.ts'
import { approvalView, type ApprovalView } from '../approvals/view.ts'
import { LOCAL_TENANT } from '../callers/api-keys.ts'
import { GatewayError } from '../errors/errors.ts'
import { reviewedApproval, type ReviewedApproval } from '../flow/approval-review.ts'
import type { ApprovalDecision, ApprovalState } from '../store/approvals.ts'
import type { Arguments } from './command.ts'
import { placeConfigOf } from './config-option.ts'
import { noteAct, withStore } from './data-directory.ts'
import type { GatewayClient } from './gateway-client.ts'
import { writeLine, type CommandIo } from './io.ts'
import { groupsOf } from './keys.ts'
import { aroundFourEyes, localUser } from './remote.ts'
import { withLocalFlow } from './local-flow.ts'

interface DecisionText {
  readonly state: ApprovalDecision['state']
  readonly comment: string
  /** Seconds; null: the configured maximum. */
  readonly validity: number | null
}

export interface ApprovalsSite {
  /** Newest first. */
  list(limit: number, state: ApprovalState | undefined): Promise<readonly ApprovalView[]>
  /** @throws GatewayError NOT_FOUND */
  review(id: string): Promise<ReviewedApproval>
  /** @throws GatewayError NOT_FOUND, APPROVAL_CONFLICT or FORBIDDEN */
  decide(id: string, decision: DecisionText): Promise<ApprovalView>
}

const Page = Type.Object({ items: Type.Array(Approval), next_cursor: nullable(Type.String()) })
const LONGEST_PAGE = 200

export function remoteApprovals(gateway: GatewayClient): ApprovalsSite {
  return {
    async list(limit, state) {
      const found: ApprovalView[] = []
      for (let cursor: string | undefined; found.length < limit;) {
        const query = { state, limit: Math.min(limit - found.length, LONGEST_PAGE), cursor }
        const page = await gateway.ask(listApprovals, Page, { query })
        found.push(...page.items)
        if (page.next_cursor === null) break
        cursor = page.next_cursor
      }
      return found
    },
    review: (id) => gateway.ask(reviewApproval, ApprovalReviewAnswer, { params: { id } }),
    async decide(id, { state, comment, validity }) {
      const body = {
        ...(comment !== '' && { comment }),
        ...(state === 'granted' && validity !== null && { validity }),
      }
      const route = state === 'granted' ? grantApproval : denyApproval
      const { approval } = await gateway.ask(route, ApprovalAnswer, { params: { id }, body })
      return approval
    },
  }
}

export function localApprovals(args: Arguments, io: CommandIo): ApprovalsSite {
  const tenant = args.value('tenant') ?? LOCAL_TENANT
  return {
    async list(limit, state) {
      const now = Date.now()
      const filter = { tenant, limit, now, ...(state !== undefined && { state }) }
      const rows = await withStore(args, io, (store) => store.approvals.list(filter))
      return rows.map((row) => approvalView(row, now))
    },
    review: (id) =>
      withLocalFlow(args, io, async ({ store, settings, flow }) => {
        const row = await store.approvals.byId(tenant, id)
        if (row === null) throw new GatewayError('NOT_FOUND')
        return reviewedApproval(row, null, { settings: settings(), flow, store, now: Date.now() })
      }),
    async decide(id, { state, comment, validity }) {
      const by = localUser()
      const at = Date.now()
      writeLine(io.stderr, aroundFourEyes())
      const word = { state, tenant, approvalId: id, by, groups: groupsOf(args), comment, validity, at }
      const row = await withStore(args, io, async (store) => {
        const decided = await completeApproval(word, placeConfigOf(args, io), store)
        await noteAct(store, io, approvalAct(decided, word))
        return decided
      })
      return approvalView(row, at)
    },
  }
}
