/**
 * Which alternatives of a wide choice may have a value in common. Listed values, their own or those of one required
 * member, put most of them apart, so that not each is held against each.
 */
import { valueKey } from '../equality.ts'
import { byCodeUnit } from '../../common/code-unit-order.ts'
import { plainObject, shapeMember } from './disjoint.ts'
import { constraintsOfAll } from './members.ts'
import type { SchemaNode } from './model.ts'

/** Among no more alternatives than these, each is held against each. */
const MAX_HELD = 64

/** The alternatives that may have a value in common with one of them; null where these are too many. */
export type Overlaps = (node: SchemaNode) => readonly SchemaNode[] | null

export function overlapsAmong(nodes: readonly SchemaNode[]): Overlaps {
  if (nodes.length <= MAX_HELD) return () => nodes
  const listed = new Map(nodes.map((node) => [node, listedValues(node)] as const))
  const place = mostFrequent([...listed.values()].flatMap((lists) => [...lists.keys()]))
  const rest = nodes.filter((node) => place === null || listed.get(node)?.has(place) !== true)
  const byValue = new Map<string, SchemaNode[]>()
  const keysOf = (node: SchemaNode): readonly string[] =>
    place === null ? [] : (listed.get(node)?.get(place) ?? []).map(valueKey)
  for (const node of nodes) for (const key of keysOf(node)) byValue.set(key, [...(byValue.get(key) ?? []), node])
  return (node) => {
    const keys = keysOf(node)
    if (keys.length === 0) return null
    const others = new Set(rest)
    for (const key of keys) {
      const group = byValue.get(key) ?? []
      if (others.size + group.length > MAX_HELD) return null
      for (const one of group) others.add(one)
    }
    return [...others]
  }
}

/** The values that a schema lists for itself (the empty key), and for each member that it requires (`/` and its name). */
function listedValues(node: SchemaNode): ReadonlyMap<string, readonly unknown[]> {
  const lists = new Map<string, readonly unknown[]>()
  const own = valuesOf(node)
  if (own !== null) lists.set('', own)
  const object = plainObject(node)
  for (const name of object?.required ?? []) {
    const member = shapeMember(object?.shape ?? null, name)
    const values = member === null ? null : valuesOf(member)
    if (values !== null) lists.set(`/${name}`, values)
  }
  return lists
}

function valuesOf(node: SchemaNode): readonly unknown[] | null {
  for (const one of constraintsOfAll(node)) if (one.kind === 'values') return one.values
  return null
}

/** Of several the one that sorts first. */
function mostFrequent(keys: readonly string[]): string | null {
  const counts = [...Map.groupBy(keys, (key) => key)].map(([key, { length }]) => ({ key, length }))
  return counts.sort((a, b) => b.length - a.length || byCodeUnit(a.key, b.key))[0]?.key ?? null
}
