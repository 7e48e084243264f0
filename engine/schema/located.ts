/**
 * Where a value stands: a chain of steps from a document's root, made into a JSON Pointer only for what is reported.
 * Building the text of every pointer of a large contract would cost more than comparing it.
 */
import { pointerToken } from '../common/json-pointer.ts'

/** A step down from `parent`; a root has no parent and its `step` is the pointer text it starts from. */
export interface Place {
  readonly parent: Place | null
  readonly step: string
  /** Of an object that was composed of several: where its members are, other than below it. */
  readonly moved?: ReadonlyMap<string, Place>
}

/** A value of a contract and where it stands. */
export interface Located {
  readonly value: unknown
  readonly at: Place
  /** The document it is written in: '' for the contract itself, else the path of a further file. */
  readonly document: string
}

export const ROOT: Place = { parent: null, step: '' }

export function placeAt(pointer: string): Place {
  return pointer === '' ? ROOT : { parent: null, step: pointer }
}

export function stepInto(at: Place, step: string): Place {
  return at.moved?.get(step) ?? { parent: at, step }
}

/** The members of an object; none of another value. */
export function recordOf(value: unknown): JsonRecord {
  return isRecord(value) ? value : {}
}

export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** The text of a member, or null when the value has no such member. */
export function textAt(value: unknown, name: string): string | null {
  return isRecord(value) ? textOrNull(value[name]) : null
}

/** The member of a located object, or null when the object has no such member. */
export function memberOf(owner: Located, name: string): Located | null {
  if (!isRecord(owner.value) || !Object.hasOwn(owner.value, name)) return null
  return { value: owner.value[name], at: stepInto(owner.at, name), document: owner.document }
}

/** The items of a located list; none when there is no list. */
export function locatedItems(list: Located | null): readonly Located[] {
  if (list === null || !Array.isArray(list.value)) return []
  const values: readonly unknown[] = list.value
  return values.map((value, index) => ({ value, at: stepInto(list.at, String(index)), document: list.document }))
}

/** RFC 6901 text of a place; in a further file it is preceded by the file's path and `#`. */
export function pointerOf(at: Place, document = ''): string {
  const steps: string[] = []
  let place: Place = at
  while (place.parent !== null) {
    steps.push(pointerToken(place.step))
    place = place.parent
  }
  steps.reverse()
  const pointer = steps.length === 0 ? place.step : `${place.step}/${steps.join('/')}`
  return document === '' ? pointer : `${document}#${pointer}`
}

/**
 * Holds the copies of a schema, one for each meaning that its dynamic references have there. An extension has no meaning for
 * schemas, and is searched for addresses.
 */
export const DYNAMIC_SCOPES = 'x-dynamic-scopes'

/** The pointer to what the author wrote, from one into a copy. */
export function writtenPointer(pointer: string): string {
  return pointer.includes(DYNAMIC_SCOPES) ? pointer.replaceAll(COPY_STEPS, '') : pointer
}

const COPY_STEPS = new RegExp(`/${DYNAMIC_SCOPES}/[^/]*`, 'g')

export type JsonRecord = Readonly<Record<string, unknown>>

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
