/** The value of a field that a message does not carry, as written and as read. */
import type { ProtoContract } from '../../contracts/protobuf/contract.ts'
import type { ProtoField } from '../../contracts/protobuf/model.ts'
import { typeOfField } from './field-types.ts'

interface FieldDefault {
  /** As the contract writes it. */
  readonly written: unknown
  /** The value in a form that is equal if readers get the same: a number is the same in every numeric type. */
  readonly value: string
  /** Whether it is the zero value of the type. */
  readonly isZero: boolean
}

/** Null if there is none: lists, maps and messages are empty or absent. */
export function effectiveDefault(field: ProtoField, contract: ProtoContract): FieldDefault | null {
  if (field.label === 'repeated' || field.label === 'map') return null
  const { kind, name } = typeOfField(field, contract)
  const stated = field.options.get('default')
  if (kind === 'scalar') return scalarDefault(name, stated)
  if (kind !== 'enum' && stated === undefined) return null
  const values = contract.enums.get(name)?.values ?? []
  const written = stated ?? values[0]?.name ?? null
  const number = values.find((value) => value.name === written)?.number
  // If the enum is not available, only the name is known.
  if (number === undefined) return { written, value: `name ${literalText(written)}`, isZero: written === null }
  return { written, value: `number ${number}`, isZero: number === 0 }
}

function scalarDefault(type: string, stated: unknown): FieldDefault {
  if (type === 'string' || type === 'bytes') {
    const written = stated ?? ''
    return { written, value: `text ${literalText(written)}`, isZero: written === '' }
  }
  if (type === 'bool') return { written: stated ?? false, value: `bool ${stated === true}`, isZero: stated !== true }
  const written = stated ?? 0
  if (type !== 'float' && type !== 'double') {
    return { written, value: `number ${literalText(written)}`, isZero: written === 0 }
  }
  const number = floatOf(written)
  const value = type === 'float' ? Math.fround(number) : number
  return { written, value: `number ${value}`, isZero: value === 0 }
}

function literalText(written: unknown): string {
  return typeof written === 'string' ? written : JSON.stringify(written)
}

/** Integers above 2^53 are kept as text, and so are `inf`, `-inf` and either `nan`. */
function floatOf(written: unknown): number {
  const text = literalText(written)
  if (/^-?inf$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity
  return Number(text)
}
