/**
 * The effect of each mutation of a platform's GraphQL API, as data; a mutation without a row is unknown, and needs a
 * receipt.
 */
import { digestJson } from '../../../engine/base.ts'
import { sha256Hex } from '../../runtime/hash.ts'
import type { ResourceCheck } from '../common/action.ts'
import type { PlatformId } from '../../scm/platform.ts'
import { refuseOwnCheck } from './own-check.ts'
import { refuseCommands } from './text-commands.ts'
import type { EndpointGroup, ReceiptOperation } from './endpoints.ts'
import type { Called } from './graphql.ts'
import { textOfParameter } from './request.ts'

export interface MutationGroup extends Omit<EndpointGroup, 'endpoints'> {
  readonly mutations: readonly string[]
}

type MutationTable = ReadonlyMap<string, Pick<MutationGroup, 'effect' | 'because'>>

/** @throws Error for a mutation that two rows name */
export function createMutationTable(groups: readonly MutationGroup[]): MutationTable {
  const table = new Map<string, Pick<MutationGroup, 'effect' | 'because'>>()
  for (const { effect, because, mutations } of groups)
    for (const name of mutations) {
      if (table.has(name)) throw new Error(`two rows for ${name}`)
      table.set(name, { effect, because })
    }
  return table
}

/** Of a review: one that approves counts for a merge. */
const APPROVING: ReadonlySet<string> = new Set(['addPullRequestReview', 'submitPullRequestReview'])
const COMMENTING = /^(?:comment|request_changes)$/i

/** Null: it passes. @throws UnreadableIntent for a text that lands something, and for the check of the gateway */
export function receiptOf(
  { name, input }: Called,
  table: MutationTable,
  { platform, checkName }: { readonly platform: PlatformId; readonly checkName: string },
): ReceiptOperation | null {
  if (APPROVING.has(name)) {
    const event = textOfParameter(input, 'event')
    if (event !== null && !COMMENTING.test(event)) return 'approve'
  }
  const effect = table.get(name)?.effect ?? 'administer'
  if (effect === 'texts') refuseCommands(platform, input)
  if (effect === 'results') refuseOwnCheck(checkName, input)
  return effect === 'passes' || effect === 'texts' || effect === 'results' ? null : effect
}

/** The receipt names the mutation and all that is put into it. @param platform as targets begin */
export function mutationCheck(platform: string, { name, input }: Called, operation: ReceiptOperation): ResourceCheck {
  const [, digest = ''] = digestJson(input, sha256Hex).split(':')
  const target = `${platform}:mutation/${name}/${digest}`
  return { resource: { name: `mutation ${name}`, target, scope: null, operation }, basis: { kind: 'receipt' } }
}
