/** Finds and replaces operations in the plain document of an OpenAPI contract. */
import { canonicalJson } from '../../common/hash.ts'
import { isRecord, type JsonRecord } from '../../schema/located.ts'
import { resolveRef } from '../pointer.ts'
import { METHODS } from './contract.ts'

export interface FoundOperation {
  readonly path: string
  /** Upper case. */
  readonly method: string
  readonly operation: JsonRecord
  /** The path item, references followed. */
  readonly item: JsonRecord
}

/** All operations below `paths`. */
export function operationsOf(root: JsonRecord): readonly FoundOperation[] {
  return Object.keys(objectUnder(root, 'paths')).flatMap((path) => {
    const item = pathItemAt(root, path)
    const standard = METHODS.map((method) => [method.toUpperCase(), item[method]] as const)
    const additional = Object.entries(objectUnder(item, 'additionalOperations'))
    return [...standard, ...additional].flatMap(([method, value]) => {
      const operation = resolvedObject(root, value)
      return operation === null ? [] : [{ path, method, operation, item }]
    })
  })
}

/** The path item. Siblings of a reference override the members of its target: of lists and maps each by its name. */
export function pathItemAt(root: JsonRecord, path: string): JsonRecord {
  const paths = objectUnder(root, 'paths')
  const own = Object.hasOwn(paths, path) ? paths[path] : undefined
  if (!isRecord(own)) return {}
  if (typeof own.$ref !== 'string') return own
  const { $ref: _, ...rest } = own
  const target = resolvedObject(root, own) ?? {}
  const parameters = withInheritedParameters(root, rest, target)
  const additional = { ...objectUnder(target, 'additionalOperations'), ...objectUnder(rest, 'additionalOperations') }
  return {
    ...target,
    ...rest,
    ...(parameters.length > 0 && { parameters }),
    ...(Object.keys(additional).length > 0 && { additionalOperations: additional }),
  }
}

/** The parameters of an owner that a part of it does not override, and those of the part. */
export function withInheritedParameters(root: JsonRecord, part: JsonRecord, owner: JsonRecord): readonly unknown[] {
  const own = listUnder(part, 'parameters') ?? []
  const keyOf = (parameter: unknown): string => {
    const { in: place, name } = resolvedObject(root, parameter) ?? {}
    return canonicalJson([place ?? null, name ?? null])
  }
  const overridden = new Set(own.map(keyOf))
  return [...(listUnder(owner, 'parameters') ?? []).filter((parameter) => !overridden.has(keyOf(parameter))), ...own]
}

/** The document with this operation replaced. Null removes it, and a path without operations with it. */
export function withOperation(
  root: JsonRecord,
  { path, method }: Pick<FoundOperation, 'path' | 'method'>,
  operation: JsonRecord | null,
): JsonRecord {
  const item = pathItemAt(root, path)
  const member = METHODS.find((name) => name.toUpperCase() === method)
  const changed =
    member === undefined
      ? { ...item, additionalOperations: withMember(objectUnder(item, 'additionalOperations'), method, operation) }
      : withMember(item, member, operation)
  const whole = { ...root, paths: { ...objectUnder(root, 'paths'), [path]: changed } }
  const isEmpty = !operationsOf(whole).some((other) => other.path === path)
  return isEmpty ? { ...whole, paths: withMember(whole.paths, path, null) } : whole
}

/** A copy with the member set or removed. */
export function withMember(holder: JsonRecord, name: string, value: unknown): JsonRecord {
  if (value !== null) return { ...holder, [name]: value }
  return Object.fromEntries(Object.entries(holder).filter(([other]) => other !== name))
}

/** The object under a name, or an empty one. */
export function objectUnder(holder: JsonRecord, name: string): JsonRecord {
  const value = Object.hasOwn(holder, name) ? holder[name] : undefined
  return isRecord(value) ? value : {}
}

/** The items of the list under a name, or null. */
export function listUnder(holder: JsonRecord, name: string): readonly unknown[] | null {
  const value = Object.hasOwn(holder, name) ? holder[name] : undefined
  return Array.isArray(value) ? value : null
}

/** A value or the target of its `$ref`. Null if that is not an object of this document. */
function resolvedObject(root: JsonRecord, value: unknown): JsonRecord | null {
  if (!isRecord(value) || typeof value.$ref !== 'string') return isRecord(value) ? value : null
  const target = resolveRef(root, value.$ref)
  return target.kind === 'resolved' && isRecord(target.value) ? target.value : null
}
