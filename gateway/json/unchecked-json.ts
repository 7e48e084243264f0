/** JSON that may be anything, where a text or a member of another form counts as absent. */
import { isJsonObject, type JsonObject } from './strict-json.ts'

/** Null: the text is no JSON. */
export function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** The members of an object; none for any other value. */
export function recordIn(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

/** The objects of a list; none for any other value. */
export function objectsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

/** A text; null for any other value. */
export function textIn(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
