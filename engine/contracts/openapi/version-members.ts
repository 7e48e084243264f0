/**
 * Members, and names with a meaning, that only later versions of OpenAPI have. Keywords of schemas are in
 * schema/dialect-keywords.ts. Contracts of one version keep what it does not have, as many readers do.
 */
import { lookupTable } from '../../common/lookup-table.ts'
import { isRecord, type Located } from '../../schema/located.ts'

/** What a contract states of its version, and how closely it is taken. */
export interface VersionedContract {
  /** As written: `3.0.3`. */
  readonly version: string
  /**
   * Whether only members count that the version has, because the other side has another version: what one version knows
   * takes effect by the move, or loses it. Absent: all members count.
   */
  readonly isStrict?: boolean
}

/** The first versions that have them, by the kind of their holder. */
const SINCE = {
  contract: lookupTable({ webhooks: '3.1' }),
  components: lookupTable({ pathItems: '3.1', mediaTypes: '3.2' }),
  'path item': lookupTable({ trace: '3.0', query: '3.2', additionalOperations: '3.2' }),
  operation: lookupTable({ callbacks: '3.0' }),
  response: lookupTable({ links: '3.0' }),
  /** Values of `in`. */
  'place of a parameter': lookupTable({ cookie: '3.0', querystring: '3.2' }),
  /** Values of `style`. */
  style: lookupTable({ cookie: '3.2' }),
  'media type': lookupTable({ $ref: '3.2', itemSchema: '3.2', prefixEncoding: '3.2', itemEncoding: '3.2' }),
  encoding: lookupTable({ encoding: '3.2', prefixEncoding: '3.2', itemEncoding: '3.2' }),
  /** Values of `type`. */
  'type of a security scheme': lookupTable({ mutualTLS: '3.1' }),
  'security scheme': lookupTable({ oauth2MetadataUrl: '3.2' }),
  flows: lookupTable({ deviceAuthorization: '3.2' }),
  /** Beside the names of components. */
  requirement: lookupTable({ addresses: '3.2' }),
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>

export type VersionedKind = keyof typeof SINCE

/** Whether a member counts in a contract. One that is in every version does. */
export function hasMember({ version, isStrict }: VersionedContract, kind: VersionedKind, name: string): boolean {
  const since: string | undefined = SINCE[kind][name]
  return isStrict !== true || since === undefined || isSince(version, since)
}

/** An object with the members that count. The same object if all of them do. */
export function withKnownMembers<Part extends Located>(
  contract: VersionedContract,
  kind: VersionedKind,
  located: Part,
): Part {
  const { value } = located
  if (contract.isStrict !== true || !isRecord(value)) return located
  const names = Object.keys(value)
  const known = names.filter((name) => hasMember(contract, kind, name))
  if (known.length === names.length) return located
  return { ...located, value: Object.fromEntries(known.map((name) => [name, value[name]])) }
}

/** The names of the tables above that one of two versions has, and the other one does not. */
export function membersBetween(one: string, other: string): ReadonlySet<string> {
  const rows = Object.values(SINCE).flatMap((table) => Object.entries<string>(table))
  return new Set(rows.flatMap(([name, since]) => (isSince(one, since) === isSince(other, since) ? [] : [name])))
}

/** Whether two contracts are of versions with different members. A contract that does not exist has none. */
export function isMovedBetween(base: VersionedContract, head: VersionedContract): boolean {
  if (base.version === '' || head.version === '') return false
  return numberOf(base.version) !== numberOf(head.version)
}

export function isSince(version: string, since: string): boolean {
  return numberOf(version) >= numberOf(since)
}

/** Patch versions have no members of their own. */
function numberOf(version: string): number {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  return major * 1000 + minor
}
