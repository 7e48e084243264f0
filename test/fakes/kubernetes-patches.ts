/** How the stand-in for the API server applies patches: JSON patch by a library, the rest in the simplest form that is right for tests. */
import { applyPatch, type Operation } from 'rfc6902'

export type FakeObject = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is FakeObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** RFC 6902; null when an operation cannot be applied. */
export function jsonPatched(object: FakeObject, operations: readonly Operation[]): FakeObject | null {
  const copy = structuredClone(object)
  const faults = applyPatch(copy, [...operations]).filter((fault) => fault !== null)
  return faults.length === 0 ? copy : null
}

/** RFC 7386. */
export function mergePatched(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged: Record<string, unknown> = isObject(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name]
    else merged[name] = mergePatched(merged[name], value)
  }
  return merged
}

/** A merge patch in which lists of named items are merged by name; directives ($patch, $setElementOrder) go. */
export function strategicallyPatched(target: unknown, patch: unknown): unknown {
  if (Array.isArray(patch)) return mergedList(Array.isArray(target) ? target : [], patch)
  if (!isObject(patch)) return patch
  const merged: Record<string, unknown> = isObject(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith('$')) continue
    if (value === null) delete merged[name]
    else merged[name] = strategicallyPatched(merged[name], value)
  }
  return merged
}

function mergedList(target: readonly unknown[], patch: readonly unknown[]): readonly unknown[] {
  const isNamed = patch.every((item) => isObject(item) && typeof item['name'] === 'string')
  if (!isNamed || patch.length === 0) return patch
  const merged = [...target]
  for (const item of patch.filter(isObject)) {
    const index = merged.findIndex((old) => isObject(old) && old['name'] === item['name'])
    if (index === -1) merged.push(item)
    else merged[index] = strategicallyPatched(merged[index], item)
  }
  return merged
}
