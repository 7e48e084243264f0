/** Where baselines are: in a running gateway, reached over its API, or in the data directory of one. Both give the same rows. */
import { Type } from '../../engine/base.ts'
import { compare, countFindings, type Comparison, type Level, type Result } from '../../engine/internal.ts'
import {
  Baseline,
  BaselineAnswer,
  Candidate,
  getBaseline,
  listBaselines,
  promoteBaseline,
  Promotion,
} from '../api/routes/baselines.ts'
import { nullable } from '../api/schemas/shapes.ts'
import { RouteBaselines, type BaselineService, type BaselineText, type BaselineView } from '../baselines/baselines.ts'
import { promotedArtifact } from '../baselines/promotion.ts'
import { LOCAL_TENANT } from '../callers/api-keys.ts'
import { GatewayError } from '../errors/errors.ts'
import { sha256Hex } from '../runtime/hash.ts'
import type { Store } from '../store/store.ts'
import type { Arguments } from './command.ts'
import { noteAct } from './data-directory.ts'
import { instant, secondsOf } from './format.ts'
import type { GatewayClient } from './gateway-client.ts'
import type { CommandIo } from './io.ts'
import { groupsOf } from './keys.ts'
import { withLocalFlow } from './local-flow.ts'
import { localUser } from './remote.ts'

export interface BaselineListRow {
  readonly route: string
  readonly type: string
  readonly digest: string
  readonly source: string
  readonly set_by: string
  readonly set_at: string
  readonly candidate: { readonly digest: string; readonly seen_at: string } | null
}

export interface CandidateListRow {
  readonly route: string
  readonly digest: string
  readonly seen_at: string
  /** Findings by level; null: the two cannot be compared. */
  readonly difference: Readonly<Record<Level, number>> | null
}

/** Both contracts of a route. */
interface BaselineTexts {
  readonly route: string
  readonly type: string
  readonly baseline: BaselineText
  readonly candidate: BaselineText | null
}

export interface PromotionText {
  /** Parts to accept; empty: all. */
  readonly only: readonly string[]
  readonly comment: string
}

export interface BaselinesSite {
  list(): Promise<readonly BaselineListRow[]>
  candidates(): Promise<readonly CandidateListRow[]>
  /** Null: the route has no baseline. */
  texts(route: string): Promise<BaselineTexts | null>
  /** Returns the digest of the baseline afterwards. @throws GatewayError when it is refused */
  promote(route: string, digest: string, promotion: PromotionText): Promise<string>
}

const Rows = Type.Object({ items: Type.Array(Type.Object({ baseline: Baseline, candidate: nullable(Candidate) })) })

export function remoteBaselines(gateway: GatewayClient): BaselinesSite {
  return {
    async list() {
      const { items } = await gateway.ask(listBaselines, Rows)
      return items.map(({ baseline: { route, type, digest, source, set_by, set_at }, candidate }) => ({
        route,
        type,
        digest,
        source,
        set_by,
        set_at: secondsOf(set_at),
        candidate: candidate === null ? null : { digest: candidate.digest, seen_at: secondsOf(candidate.seen_at) },
      }))
    },
    async candidates() {
      const { items } = await gateway.ask(listBaselines, Rows)
      return items.flatMap(({ baseline: { route }, candidate }) =>
        candidate === null
          ? []
          : [{ route, digest: candidate.digest, seen_at: secondsOf(candidate.seen_at), difference: candidate.summary }],
      )
    },
    async texts(route) {
      try {
        const { baseline, candidate } = await gateway.ask(getBaseline, BaselineAnswer, { params: { route } })
        return { route, type: baseline.type, baseline, candidate }
      } catch (error) {
        if (error instanceof GatewayError && error.code === 'NOT_FOUND') return null
        throw error
      }
    },
    async promote(route, digest, { only, comment }) {
      const body = { digest, ...(comment !== '' && { comment }), ...(only.length > 0 && { only }) }
      const { baseline } = await gateway.ask(promoteBaseline, Promotion, { params: { route }, body })
      return baseline.digest
    },
  }
}

export function localBaselines(args: Arguments, io: CommandIo): BaselinesSite {
  return {
    list: () => withBaselines(args, io, async (baselines) => (await baselines.list()).map(baselineListRow)),
    candidates: () =>
      withBaselines(args, io, async (baselines) => (await baselines.list()).flatMap((view) => candidateRows(view))),
    texts: (route) =>
      withBaselines(args, io, async (baselines) => {
        const view = await baselines.view(route)
        return view === null ? null : baselineTexts(view)
      }),
    promote: (route, digest, { only, comment }) =>
      withBaselines(args, io, async (baselines, store) => {
        const acceptor = { tenant: LOCAL_TENANT, by: localUser(), groups: groupsOf(args), comment }
        const promoted = await baselines.promote(route, digest, acceptor, only)
        await noteAct(store, io, { event: 'baseline.promoted', route, digest: promoted.digest, only })
        return promoted.digest
      }),
  }
}

/** With the policy and the receipt key of the configuration: a promotion is a decision like any other. */
export function withBaselines<T>(
  args: Arguments,
  io: CommandIo,
  work: (baselines: BaselineService, store: Store) => Promise<T>,
): Promise<T> {
  return withLocalFlow(args, io, (parts) => work(new RouteBaselines(parts), parts.store))
}

/** Null: there is no candidate. */
export function comparisonOf({ route, type, baseline, candidate }: BaselineTexts): Result<Comparison> | null {
  if (candidate === null) return null
  return compare(promotedArtifact(route, baseline, { type, content: candidate.content }), {}, sha256Hex)
}

/** Both contracts of a stored baseline. */
export function baselineTexts({ baseline, candidate }: BaselineView): BaselineTexts {
  const { route, type } = baseline
  return { route, type, baseline, candidate }
}

function candidateRows(view: BaselineView): readonly CandidateListRow[] {
  if (view.candidate === null) return []
  const { digest, seenAt } = view.candidate
  const compared = comparisonOf(baselineTexts(view))
  const count = (level: Level): number => (compared?.ok === true ? countFindings(compared.value.groups, level) : 0)
  const difference =
    compared?.ok === true ? { breaking: count('breaking'), dangerous: count('dangerous'), info: count('info') } : null
  return [{ route: view.baseline.route, digest, seen_at: instant(seenAt), difference }]
}

function baselineListRow({ baseline, candidate }: BaselineView): BaselineListRow {
  const { route, type, digest, source, setBy, setAt } = baseline
  return {
    route,
    type,
    digest,
    source,
    set_by: setBy,
    set_at: instant(setAt),
    candidate: candidate === null ? null : { digest: candidate.digest, seen_at: instant(candidate.seenAt) },
  }
}
