/**
 * The identity of the rules in force (docs/reference/hashes.md#ruleset_hash). Two builds with the same hash judge
 * every change at the same level.
 */
import { FUNCTION, requireArgument } from '../../common/argument.ts'
import { digestJson, type Digest, type Sha256 } from '../../common/hash.ts'
import { ruleTable } from './table.ts'

/**
 * Computed once for each hash function: the rules do not change while a process runs, and every decision needs the
 * hash.
 */
const COMPUTED = new WeakMap<Sha256, Digest>()

/** JCS of `[id, level]` of every rule, sorted by id. */
export function rulesetHash(sha256: Sha256): Digest {
  requireArgument('rulesetHash', 'sha256', sha256, FUNCTION)
  const known = COMPUTED.get(sha256)
  if (known !== undefined) return known
  const hash = digestJson(
    ruleTable().map(({ id, level }) => [id, level]),
    sha256,
  )
  COMPUTED.set(sha256, hash)
  return hash
}
