/** Whether every reader of Avro takes a schema (Avro 1.12, "Schema Declaration"). Readers refuse it as a whole if not. */
import { lookupTable } from '../../common/lookup-table.ts'
import { isRecord, type JsonRecord } from '../../schema/located.ts'
import type { AvroField, AvroNamed, AvroRecord, AvroSchema, AvroType } from './avro.ts'

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

export function isValidAvro(schema: AvroSchema): boolean {
  return schema.isOrdered && new Validity(schema).isValid(schema.root)
}

interface RecordFields {
  readonly known: ReadonlyMap<string, AvroField>
  /** Those without a default. */
  readonly needed: readonly string[]
}

class Validity {
  readonly #types: ReadonlyMap<string, AvroNamed>
  readonly #seen = new Set<AvroType>()
  readonly #fields = new Map<AvroRecord, RecordFields>()

  constructor({ types }: AvroSchema) {
    this.#types = types
  }

  isValid(type: AvroType): boolean {
    if (this.#seen.has(type)) return true
    this.#seen.add(type)
    switch (type.kind) {
      case 'primitive':
        return true
      case 'unknown':
        return false
      case 'reference':
        return this.#defined(type) !== null
      case 'array':
      case 'map':
        return this.isValid(type.of)
      case 'union':
        return this.#isUnion(type.branches)
      case 'record':
      case 'enum':
      case 'fixed':
        return isFullName(type.name) && [...type.aliases].every(isFullName) && this.#isNamed(type)
    }
    return false
  }

  #isUnion(branches: readonly AvroType[]): boolean {
    const kinds = branches.map((branch) => ('name' in branch ? branch.name : branch.kind))
    const isDistinct = branches.length > 0 && new Set(kinds).size === kinds.length
    return isDistinct && branches.every((branch) => branch.kind !== 'union' && this.isValid(branch))
  }

  #isNamed(type: AvroNamed): boolean {
    if (type.kind === 'fixed') return Number.isInteger(type.size) && Number(type.size) > 0
    if (type.kind === 'enum') {
      const { symbols, fallback } = type
      return areNames(symbols) && symbols.length > 0 && (fallback === null || symbols.includes(fallback))
    }
    return areNames(type.fields.map(({ name }) => name)) && type.fields.every((field) => this.#isField(field))
  }

  #isField({ type, aliases, fallback }: AvroField): boolean {
    if (!areNames([...aliases]) || !this.isValid(type)) return false
    return fallback === null || this.#isDefault(type, JSON.parse(fallback))
  }

  /** Readers before Avro 1.12 take a default of the first branch of a union only. */
  #isDefault(type: AvroType, value: unknown): boolean {
    switch (type.kind) {
      case 'primitive':
        return DEFAULTS[type.name]?.(value) === true
      case 'unknown':
        return false
      case 'reference': {
        const defined = this.#defined(type)
        return defined !== null && this.#isDefault(defined, value)
      }
      case 'array':
        return Array.isArray(value) && value.every((item) => this.#isDefault(type.of, item))
      case 'map':
        return isRecord(value) && Object.values(value).every((item) => this.#isDefault(type.of, item))
      case 'union': {
        const [first] = type.branches
        return first !== undefined && this.#isDefault(first, value)
      }
      case 'enum':
        return typeof value === 'string' && type.symbols.includes(value)
      case 'fixed':
        return isBytes(value) && value.length === type.size
      case 'record':
        return isRecord(value) && this.#isDefaultOfRecord(type, value)
    }
    return false
  }

  #isDefaultOfRecord(type: AvroRecord, value: JsonRecord): boolean {
    const { known, needed } = this.#fieldsOf(type)
    const isNamed = ([name, member]: readonly [string, unknown]): boolean => {
      const field = known.get(name)
      return field === undefined || this.#isDefault(field.type, member)
    }
    return needed.every((name) => Object.hasOwn(value, name)) && Object.entries(value).every(isNamed)
  }

  /** Many defaults may be of one record: its fields are listed once. */
  #fieldsOf(type: AvroRecord): RecordFields {
    const fields = this.#fields.get(type) ?? {
      known: new Map(type.fields.map((field) => [field.name, field])),
      needed: type.fields.filter(({ fallback }) => fallback === null).map(({ name }) => name),
    }
    this.#fields.set(type, fields)
    return fields
  }

  #defined({ name, plain }: Extract<AvroType, { readonly kind: 'reference' }>): AvroNamed | null {
    return this.#types.get(name) ?? this.#types.get(plain) ?? null
  }
}

const isBytes = (value: unknown): value is string => typeof value === 'string' && !/[^\0-\xFF]/.test(value)
const isWithin = (value: unknown, bits: number): boolean =>
  Number.isInteger(value) && Number(value) >= -(2 ** (bits - 1)) && Number(value) < 2 ** (bits - 1)

const DEFAULTS: Readonly<Record<string, (value: unknown) => boolean>> = lookupTable({
  null: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  int: (value) => isWithin(value, 32),
  long: (value) => isWithin(value, 64),
  float: (value) => typeof value === 'number',
  double: (value) => typeof value === 'number',
  string: (value) => typeof value === 'string',
  bytes: isBytes,
})

function isFullName(name: string): boolean {
  const parts = name.split('.')
  return parts.every((part) => NAME.test(part)) && DEFAULTS[parts.at(-1) ?? ''] === undefined
}

function areNames(names: readonly string[]): boolean {
  return new Set(names).size === names.length && names.every((name) => NAME.test(name))
}
