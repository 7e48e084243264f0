/** Members of a platform's JSON answers, read strictly: what is not of the shape that the platform documents ends the derivation. */
import { isJsonObject, type JsonObject } from '../json/strict-json.ts'
import { ScmError } from './scm-error.ts'

/** The value at a path of members; undefined where one is missing. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, name) => (isJsonObject(inner) ? inner[name] : undefined), value)
}

/** @throws ScmError unexpected when there is no text there */
export function requiredTextAt(value: unknown, ...path: readonly string[]): string {
  const found = at(value, ...path)
  if (typeof found === 'string' && found !== '') return found
  throw missingMember(path, 'a text')
}

export function optionalTextAt(value: unknown, ...path: readonly string[]): string | null {
  const found = at(value, ...path)
  return typeof found === 'string' && found !== '' ? found : null
}

/** @throws ScmError unexpected when there is no list of objects there */
export function listAt(value: unknown, ...path: readonly string[]): readonly JsonObject[] {
  const found = path.length === 0 ? value : at(value, ...path)
  if (Array.isArray(found) && found.every(isJsonObject)) return found
  throw missingMember(path, 'a list')
}

/** A commit id: SHA-1 or SHA-256, whole. */
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

export function commitAt(value: unknown, ...path: readonly string[]): string {
  const found = requiredTextAt(value, ...path)
  if (COMMIT.test(found)) return found
  throw missingMember(path, 'a commit id')
}

export function isCommitId(text: string): boolean {
  return COMMIT.test(text)
}

function missingMember(path: readonly string[], what: string): ScmError {
  return new ScmError('unexpected', `an answer of the platform has not ${what} at ${path.join('.') || 'its root'}`)
}
