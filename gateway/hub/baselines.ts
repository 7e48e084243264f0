/**
 * What a sidecar may write about baselines: the first contract that it was offered, the contract that its configuration names, and
 * a change that breaks no caller. The hub checks each of these itself. Every other change is a person's, at the hub.
 */
import { isDeepStrictEqual } from 'node:util'
import { contractDigest, type BaselinesDeps } from '../baselines/baselines.ts'
import { AUTO_PROMOTED, BY_CONFIGURATION, FIRST_USE } from '../baselines/pinning.ts'
import { isInfoOnly } from '../baselines/promotion.ts'
import { GatewayError } from '../errors/errors.ts'
import { isJsonObject } from '../json/strict-json.ts'
import { jsonOrNull } from '../json/unchecked-json.ts'
import type { BaselineRow } from '../store/baselines.ts'
import type { StorePart } from '../store/store.ts'

export interface BaselineWriting {
  readonly store: StorePart<'baselines.byRoute' | 'baselines.set'>
  readonly flow: Pick<BaselinesDeps['flow'], 'compare'>
}

/** A baseline that a sidecar wants to write, under its stored name. */
interface WantedBaseline {
  readonly row: BaselineRow
  /** As the store takes it: what it replaces. */
  readonly over: Over
  /** Null: the route has none. */
  readonly inForce: BaselineRow | null
}

type Over = string | null

/**
 * Resolves with the baseline that is in force then.
 * @throws GatewayError FORBIDDEN or INVALID_INPUT
 */
export async function setForSidecar(row: BaselineRow, over: Over, deps: BaselineWriting): Promise<BaselineRow> {
  requireDigest(row)
  const inForce = await deps.store.baselines.byRoute(row.route, row.artifactId)
  return deps.store.baselines.set(row, await RULES[row.source]({ row, over, inForce }, deps))
}

/** People review a contract by its digest. @throws GatewayError INVALID_INPUT */
export function requireDigest({ content, digest }: Pick<BaselineRow, 'content' | 'digest'>): void {
  if (contractDigest(content) !== digest)
    throw new GatewayError('INVALID_INPUT', 'The digest is not that of the contract.')
}

/** By source: answers what the baseline may replace, or throws FORBIDDEN. */
const RULES: Readonly<
  Record<BaselineRow['source'], (wanted: WantedBaseline, deps: BaselineWriting) => Promise<Over> | Over>
> = {
  first_use: ({ row, over, inForce }) => {
    requireAuthor(row, row.setBy === FIRST_USE)
    if (over === null || inForce === null) return null
    if (inForce.digest === over && !(inForce.source === 'first_use' && containsAllOf(inForce, row)))
      throw forbidden('A baseline of the first use gets further parts; those that it has stay as they are.')
    return over
  },
  file: configured,
  url: configured,
  git: configured,
  promotion: async ({ row, over, inForce }, { flow }) => {
    if (row.setBy !== AUTO_PROMOTED) throw forbidden('A person promotes a baseline at the hub, with a key of its own.')
    if (inForce === null) throw forbidden('The route has no baseline that the change could be compared with.')
    // The sidecar decided on another difference: nothing is replaced.
    if (inForce.digest !== over) return null
    if (inForce.digest !== row.digest && !(inForce.type === row.type && (await isInfoOnly(inForce, row, flow))))
      throw forbidden('Only a change that breaks no caller becomes the baseline by itself.')
    return inForce.digest
  },
}

function configured({ row, over }: WantedBaseline): Over {
  requireAuthor(row, row.setBy === BY_CONFIGURATION || row.setBy.startsWith(`${BY_CONFIGURATION} (`))
  return over
}

function requireAuthor({ source, setBy }: BaselineRow, isKnown: boolean): void {
  if (!isKnown) throw forbidden(`A sidecar sets no baseline of the source ${source} in the name of "${setBy}".`)
}

/** Lists of a manifest come at different times: those that are pinned stay as they are. */
function containsAllOf(before: Pick<BaselineRow, 'content'>, after: Pick<BaselineRow, 'content'>): boolean {
  const [known, offered] = [jsonOrNull(before.content), jsonOrNull(after.content)]
  if (!isJsonObject(known) || !isJsonObject(offered)) return before.content === after.content
  return Object.entries(known).every(([part, value]) =>
    isDeepStrictEqual(sortedItems(value), sortedItems(offered[part])),
  )
}

function sortedItems(value: unknown): unknown {
  return Array.isArray(value) ? value.map((item) => JSON.stringify(item)).toSorted() : value
}

function forbidden(message: string): GatewayError {
  return new GatewayError('FORBIDDEN', message)
}
