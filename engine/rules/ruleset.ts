/** The identity of the rules in force (wire.md §5): two builds with the same hash judge every change at the same level. */
import { digestJson, type Digest, type Sha256 } from '../hash.ts'
import { ruleTable } from './table.ts'

/** JCS of `[id, level]` of every rule, sorted by id. */
export function rulesetHash(sha256: Sha256): Digest {
  return digestJson(
    ruleTable().map(({ id, level }) => [id, level]),
    sha256,
  )
}
