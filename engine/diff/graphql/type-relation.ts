/** How two types with one name relate: which of them admits null in fewer places (GraphQL §3.12). */

export type TypeRelation =
  | 'same'
  /** Only the outermost null was removed or added. */
  | 'non-null'
  | 'nullable'
  /** Null was removed or added further inside, or in several places. */
  | 'narrowed'
  | 'widened'
  | 'changed'

/** The relation of two types, both written as in SDL. */
export function relateTypes(before: string, after: string): TypeRelation {
  if (before === after) return 'same'
  if (after === `${before}!`) return 'non-null'
  if (before === `${after}!`) return 'nullable'
  if (isSubtype(after, before)) return 'narrowed'
  return isSubtype(before, after) ? 'widened' : 'changed'
}

/** Whether every value of the first type is a value of the second. */
function isSubtype(inner: string, outer: string): boolean {
  if (outer.endsWith('!')) return inner.endsWith('!') && isSubtype(inner.slice(0, -1), outer.slice(0, -1))
  if (inner.endsWith('!')) return isSubtype(inner.slice(0, -1), outer)
  if (outer.startsWith('[')) return inner.startsWith('[') && isSubtype(inner.slice(1, -1), outer.slice(1, -1))
  return inner === outer
}
