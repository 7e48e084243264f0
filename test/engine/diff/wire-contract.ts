/** An OpenAPI 3.1 document as operations, read without the engine. Schemas are judged by ajv over a fixed list of values. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { isRecord, type JsonRecord } from '../../../engine/schema/located.ts'

/** Values from which those of a schema are chosen. */
const VALUES: readonly unknown[] = [
  'x',
  'y',
  'z',
  'b c',
  'a/b',
  '7',
  '8',
  'true',
  '',
  7,
  8,
  3.5,
  true,
  false,
  null,
  ['x'],
  ['x', 'y'],
  [7],
  ['x', 'y', 'z'],
  {},
  { a: 'x' },
  { b: 7 },
  { a: 'x', b: 7 },
  { a: 7 },
  { a: 'x', b: 'x' },
  { a: ['x', 'y'] },
  { a: ['x'], b: 7 },
]

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'] as const

export interface Parameter {
  readonly key: string
  readonly name: string
  readonly place: string
  readonly value: JsonRecord
  readonly isRequired: boolean
}

export interface Operation {
  readonly method: string
  readonly path: string
  readonly value: JsonRecord
  readonly parameters: readonly Parameter[]
  readonly servers: readonly JsonRecord[]
  readonly security: readonly JsonRecord[]
  readonly contract: Contract
}

export const records = (value: unknown): readonly JsonRecord[] =>
  Array.isArray(value) ? value.filter((one) => isRecord(one)) : []
export const members = (value: unknown): readonly (readonly [string, unknown])[] =>
  isRecord(value) ? Object.entries(value) : []
export const textOf = (value: unknown, fallback: string): string => (typeof value === 'string' ? value : fallback)
export const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []

/** By schema: ajv takes most of the time. */
const ADMITTED = new Map<string, readonly unknown[] | null>()

function valuesOf(schema: unknown): readonly unknown[] | null {
  if (!isRecord(schema) && typeof schema !== 'boolean') return null
  try {
    const admits = new Ajv2020({ strict: false, logger: false, validateFormats: false }).compile(schema)
    return VALUES.filter((value) => admits(value))
  } catch {
    return null
  }
}

export class Contract {
  readonly root: JsonRecord

  constructor(document: unknown) {
    this.root = isRecord(document) ? document : {}
  }

  /** What a reference leads to. An empty record: nothing. */
  at(value: unknown): JsonRecord {
    if (!isRecord(value)) return {}
    if (typeof value['$ref'] !== 'string') return value
    let found: unknown = this.root
    for (const step of value['$ref'].replace(/^#\//, '').split('/')) found = isRecord(found) ? found[step] : undefined
    return isRecord(found) && found['$ref'] === undefined ? found : {}
  }

  /** The listed values that a schema admits. Null: ajv compiles no such schema. */
  admitted(schema: unknown): readonly unknown[] | null {
    if (schema === undefined) return VALUES
    const text = JSON.stringify(schema)
    const components = text.includes('"$ref"')
      ? { components: { schemas: this.at(this.root['components'])['schemas'] } }
      : {}
    const key = `${text} ${JSON.stringify(components)}`
    const known = ADMITTED.get(key)
    if (known !== undefined) return known
    const admitted = valuesOf(isRecord(schema) ? { ...schema, ...components } : schema)
    ADMITTED.set(key, admitted)
    return admitted
  }

  operations(): readonly Operation[] {
    return members(this.root['paths']).flatMap(([path, item]) => this.operationsOf(path, item))
  }

  /** The calls of the provider: webhooks by name, callbacks by operation, name and address. */
  provided(): readonly Operation[] {
    const webhooks = members(this.root['webhooks']).flatMap(([name, item]) => this.operationsOf(name, item))
    const callbacks = this.operations().flatMap((operation) =>
      members(operation.value['callbacks']).flatMap(([name, callback]) =>
        members(this.at(callback)).flatMap(([address, item]) =>
          this.operationsOf(`${operation.method} ${operation.path} ${name} ${address}`, item),
        ),
      ),
    )
    return [...webhooks, ...callbacks]
  }

  operationsOf(path: string, reference: unknown): readonly Operation[] {
    const item = this.at(reference)
    return METHODS.flatMap((method) => {
      const value = item[method]
      if (!isRecord(value)) return []
      const own = this.#parameters(value['parameters'])
      const inherited = this.#parameters(item['parameters']).filter(({ key }) => !own.some((one) => one.key === key))
      const servers = [value, item, this.root].map((owner) => records(owner['servers'])).find((list) => list.length > 0)
      const security = Array.isArray(value['security']) ? value['security'] : this.root['security']
      return {
        method,
        path,
        value,
        parameters: [...own, ...inherited],
        servers: servers ?? [{ url: '/' }],
        security: records(security),
        contract: this,
      }
    })
  }

  #parameters(list: unknown): readonly Parameter[] {
    return records(list).flatMap((reference) => {
      const value = this.at(reference)
      const [name, place] = [textOf(value['name'], ''), textOf(value['in'], '')]
      const key = `${place} ${place === 'header' ? name.toLowerCase() : name}`
      return name === '' ? [] : { key, name, place, value, isRequired: value['required'] === true || place === 'path' }
    })
  }

  /** Names of schemes with what they are, so that another definition is another credential. */
  credentials(requirement: JsonRecord): readonly string[] {
    const schemes = this.at(this.root['components'])['securitySchemes']
    return Object.entries(requirement).flatMap(([name, scopes]) => {
      const { description: _text, bearerFormat: _format, ...scheme } = this.at(isRecord(schemes) ? schemes[name] : null)
      const definition = JSON.stringify(scheme, (member, value: unknown) => (member === 'scopes' ? undefined : value))
      return [`${name} ${definition}`, ...textsOf(scopes).map((scope) => `${name} ${scope}`)]
    })
  }
}
