/** An OpenAPI document made ready for checking: references followed, schemas of its version brought to JSON Schema, each compiled when first used. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { DEFAULT_DOCUMENT_LIMITS, pointerToken, nameOfToken, pointerFragment } from '../../engine/base.ts'
import { compileLinearPattern, readDocument, type LinearPattern } from '../../engine/internal.ts'
import { recordIn } from '../json/unchecked-json.ts'
import { createOperationMatcher, readOperations, type OperationMatcher } from './api-operations.ts'
import { isJsonObject, type JsonObject } from '../json/strict-json.ts'

export type MessageSide = 'request' | 'answer'

/** A part of the document and where it is. */
export interface ContractPart {
  readonly value: JsonObject
  /** JSON Pointer. */
  readonly at: string
}

export interface CheckedContract {
  readonly matcher: OperationMatcher
  operation(method: string, path: string): { readonly operation: ContractPart; readonly item: ContractPart } | null
  /** A member, behind the references that stand in its place. Null: no object is there. */
  member(part: ContractPart, ...names: readonly string[]): ContractPart | null
  items(part: ContractPart, name: string): readonly ContractPart[]
  /** @param isText values are texts off the wire, to be read as what the schema wants. @throws when the schema cannot be compiled */
  validator(schemaAt: string, side: MessageSide, isText: boolean): ValidateFunction
}

const ROOT = 'contract'

/** @throws when the document cannot be read */
export function openContract(text: string): CheckedContract {
  const table = readOperations(text)
  const read = readDocument(text, DEFAULT_DOCUMENT_LIMITS)
  if (!read.ok) throw new Error(read.problem.message)
  return new OpenedContract(table, read.value.root)
}

class OpenedContract implements CheckedContract {
  readonly matcher: CheckedContract['matcher']
  readonly #whole: ContractPart
  readonly #compilers = new Map<string, Ajv2020>()
  readonly #compiled = new Map<string, ValidateFunction>()

  constructor(table: ReturnType<typeof readOperations>, root: unknown) {
    this.matcher = createOperationMatcher(table)
    this.#whole = { value: recordIn(root), at: '' }
  }

  member(part: ContractPart, ...names: readonly string[]): ContractPart | null {
    let current: ContractPart | null = part
    for (const name of names) {
      if (current === null || !Object.hasOwn(current.value, name)) return null
      current = this.#follow(current.value[name], `${current.at}/${pointerToken(name)}`)
    }
    return current
  }

  operation(method: string, path: string): ReturnType<CheckedContract['operation']> {
    const item = this.member(this.#whole, 'paths', path)
    const operation = item === null ? null : this.member(item, method.toLowerCase())
    return item === null || operation === null ? null : { item, operation }
  }

  items(part: ContractPart, name: string): readonly ContractPart[] {
    const list: unknown = part.value[name]
    if (!Array.isArray(list)) return []
    return list.flatMap((value, index) => this.#follow(value, `${part.at}/${name}/${index}`) ?? [])
  }

  validator(schemaAt: string, side: MessageSide, isText: boolean): ValidateFunction {
    const key = `${side} ${isText} ${schemaAt}`
    const known = this.#compiled.get(key)
    if (known !== undefined) return known
    const schema = { type: 'object', properties: { value: { $ref: ROOT + pointerFragment(schemaAt) } } }
    const made = this.#compilerFor(side, isText).compile(schema)
    this.#compiled.set(key, made)
    return made
  }

  #compilerFor(side: MessageSide, isText: boolean): Ajv2020 {
    const key = `${side} ${isText}`
    const known = this.#compilers.get(key)
    if (known !== undefined) return known
    const made = new Ajv2020({
      strict: false,
      allErrors: false,
      validateSchema: false,
      logger: false,
      coerceTypes: isText,
      code: { regExp: linear },
    })
    addFormats.default(made)
    made.addSchema({ ...Object(plainSchemas(this.#whole.value, side)), $id: ROOT }, ROOT, undefined, false)
    this.#compilers.set(key, made)
    return made
  }

  #follow(value: unknown, at: string, hops = 0): ContractPart | null {
    if (!isJsonObject(value) || hops > MAX_HOPS) return null
    const reference = value['$ref']
    if (typeof reference !== 'string' || !reference.startsWith('#')) return { value, at }
    const pointer = decodeURIComponent(reference.slice(1))
    return this.#follow(pointedValue(this.#whole.value, pointer), pointer, hops + 1)
  }
}

/** Patterns come from the contract, values from anybody. @throws for a pattern that has no linear form: its time has no bound */
const linear = Object.assign(
  (pattern: string): LinearPattern => {
    const compiled = compileLinearPattern(pattern)
    if (compiled.ok) return compiled.value
    throw new Error(`${compiled.problem.message} The pattern is ${JSON.stringify(pattern.slice(0, 200))}.`)
  },
  { code: 'linear' },
)

const MAX_HOPS = 32

function pointedValue(root: unknown, pointer: string): unknown {
  let value = root
  for (const token of pointer.split('/').slice(1)) {
    const name = nameOfToken(token)
    if (Array.isArray(value)) value = value[Number(name)]
    else if (isJsonObject(value) && Object.hasOwn(value, name)) value = value[name]
    else return undefined
  }
  return value
}

/**
 * OpenAPI's own schema forms as JSON Schema (2020-12): `nullable`, exclusive bounds as booleans, and required properties that
 * belong to the other direction only.
 */
function plainSchemas(value: unknown, side: MessageSide): unknown {
  const made = new Map<object, unknown>()
  const copy = (held: unknown): unknown => {
    if (typeof held !== 'object' || held === null) return held
    const known = made.get(held)
    if (known !== undefined) return known
    const result: Record<string, unknown> | unknown[] = Array.isArray(held) ? [] : Object.create(null)
    made.set(held, result)
    if (Array.isArray(held) && Array.isArray(result)) for (const item of held) result.push(copy(item))
    else if (isJsonObject(held)) Object.assign(result, plainMembers(held, side, copy))
    return result
  }
  return copy(value)
}

function plainMembers(held: JsonObject, side: MessageSide, copy: (value: unknown) => unknown): JsonObject {
  const members: Record<string, unknown> = Object.create(null)
  const isSchema = typeof held['type'] === 'string' || Array.isArray(held['required'])
  for (const [name, value] of Object.entries(held)) {
    // Addresses of the document's own: references within it lead by pointers.
    if ((name === '$id' || name === '$schema') && typeof value === 'string') continue
    // Swagger 2.0 writes a parameter and its schema into one object.
    if (name === 'required' && typeof value === 'boolean') continue
    members[name] = copy(value)
  }
  if (!isSchema) return members
  if (held['nullable'] === true && typeof held['type'] === 'string') {
    members['type'] = [held['type'], 'null']
    if (Array.isArray(held['enum'])) members['enum'] = [...held['enum'], null]
  }
  for (const [flag, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof held[flag] !== 'boolean') continue
    delete members[flag]
    if (held[flag] && held[bound] !== undefined) {
      members[flag] = held[bound]
      delete members[bound]
    }
  }
  const { required, properties } = held
  if (Array.isArray(required) && isJsonObject(properties)) {
    const foreign = side === 'request' ? 'readOnly' : 'writeOnly'
    members['required'] = required.filter((name) => {
      const property = typeof name === 'string' ? properties[name] : undefined
      return !isJsonObject(property) || property[foreign] !== true
    })
  }
  return members
}
