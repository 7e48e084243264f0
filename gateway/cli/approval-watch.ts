/** `preflight approvals watch`: looks at the requests again and again, and prints what is new. */
import { setTimeout as pause } from 'node:timers/promises'
import type { ApprovalView } from '../approvals/view.ts'
import { ConfigError } from '../errors/mistake.ts'
import { GatewayError } from '../errors/errors.ts'
import { messageOf, StartupError } from '../errors/startup-error.ts'
import { printable } from '../report/printable.ts'
import type { ApprovalsSite } from './approval-sites.ts'
import { EXIT, UsageError, type Arguments, type ExitCode, positiveInteger } from './command.ts'
import { secondsOf } from './format.ts'
import { writeLine, type CommandIo } from './io.ts'

export const DEFAULT_INTERVAL = 2
/** Requests that are followed: older ones than these are decided or expired. */
const FOLLOWED = 200

export async function watchApprovals(site: ApprovalsSite, args: Arguments, io: CommandIo): Promise<ExitCode> {
  const [id] = args.operands
  const interval = positiveInteger(args, 'interval', DEFAULT_INTERVAL) * 1000
  const seconds = args.value('timeout') === undefined ? Infinity : positiveInteger(args, 'timeout', 1)
  const end = performance.now() + seconds * 1000
  const seen = new Map<string, string>()
  const look = id === undefined ? () => followedApprovals(site) : async () => [(await site.review(id)).approval]
  for (let isFirst = true; ; isFirst = false) {
    const views = await foundApprovals(look, io, isFirst)
    for (const view of views) {
      if (seen.get(view.id) === view.state) continue
      // What was decided before the watch began is no news, unless it was asked for.
      const isNews = id !== undefined || !isFirst || view.state === 'pending'
      seen.set(view.id, view.state)
      if (isNews) writeLine(io.stdout, args.value('format') === 'json' ? JSON.stringify(view) : approvalLine(view))
    }
    const state = id === undefined ? undefined : views[0]?.state
    if (state !== undefined && state !== 'pending') return state === 'granted' ? EXIT.good : EXIT.no
    if (performance.now() + interval > end) return id === undefined ? EXIT.good : EXIT.undecided
    await pause(interval)
  }
}

/** Oldest first, as they happened. */
async function followedApprovals(site: ApprovalsSite): Promise<readonly ApprovalView[]> {
  return (await site.list(FOLLOWED, undefined)).toReversed()
}

/** A gateway that restarts is no end of a watch; a first look that fails is. */
async function foundApprovals(
  look: () => Promise<readonly ApprovalView[]>,
  io: CommandIo,
  isFirst: boolean,
): Promise<readonly ApprovalView[]> {
  try {
    return await look()
  } catch (error) {
    const isFinal = [UsageError, ConfigError, StartupError, GatewayError].some((kind) => error instanceof kind)
    const isPassing = error instanceof GatewayError && error.status >= 500
    if (isFirst || (isFinal && !isPassing)) throw error
    writeLine(io.stderr, `${messageOf(error)}; looking again`)
    return []
  }
}

function approvalLine(view: ApprovalView): string {
  const at = view.settled_at ?? (view.state === 'expired' ? view.expires_at : view.opened_at)
  const who = view.approver === null ? '' : `by ${view.approver}`
  const place = view.target_id ?? view.repository ?? view.route ?? ''
  const words = [secondsOf(at), view.state, view.id, view.operation ?? '', place, who, view.summary]
  return printable(words.filter((word) => word !== '').join('  '))
}
