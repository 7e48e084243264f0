/** Operations at random, for the schema that they are written against. */
import {
  getNamedType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  isUnionType,
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLInputType,
  type GraphQLNullableInputType,
  type GraphQLSchema,
} from 'graphql'
import { Random } from '../../soundness/random.ts'

interface Writing {
  /** Without aliases, selections of several types meet under the names of their fields. */
  readonly hasAliases?: boolean
  readonly hasVariables?: boolean
  /** Whether directives of the schema are applied in operations. */
  readonly hasDirectives?: boolean
}

const SCALARS: Readonly<Record<string, readonly string[]>> = {
  Int: ['1'],
  Float: ['1.5', '1'],
  Boolean: ['true'],
  ID: ['1', '"1"'],
}

/** Those of the language, which no change of a schema concerns. */
const OF_THE_LANGUAGE: ReadonlySet<string> = new Set(['skip', 'include', 'defer', 'stream'])

/** Writes operations of a schema at random. */
export class Author {
  readonly #schema: GraphQLSchema
  readonly #random: Random
  readonly #writing: Writing
  #variables: string[] = []
  #aliases = 0

  constructor(schema: GraphQLSchema, seed: number, writing: Writing = {}) {
    this.#schema = schema
    this.#random = new Random(seed)
    this.#writing = writing
  }

  operation(): string {
    this.#variables = []
    this.#aliases = 0
    const [kind, root] = this.#random.pick(
      [
        ['query', this.#schema.getQueryType()] as const,
        ['mutation', this.#schema.getMutationType()] as const,
        ['subscription', this.#schema.getSubscriptionType()] as const,
      ].flatMap(([name, type]) => (type === undefined || type === null ? [] : [[name, type] as const])),
    )
    const directives = this.#directives(kind.toUpperCase())
    const selection =
      kind === 'subscription'
        ? `{ ${this.#field(root, this.#random.pick(Object.keys(root.getFields())), 3)} }`
        : this.#selection(root, 3, 2)
    const ofVariables = this.#directives('VARIABLE_DEFINITION', true)
    const declared = this.#variables.map((variable) => `${variable}${ofVariables}`)
    return `${kind} Op${declared.length === 0 ? '' : `(${declared.join(', ')})`}${directives} ${selection}`
  }

  #directives(place: string, isConstant = false): string {
    if (this.#writing.hasDirectives !== true) return ''
    return this.#schema
      .getDirectives()
      .filter(({ name, locations }) => !OF_THE_LANGUAGE.has(name) && locations.some((one) => one === place))
      .filter(() => this.#random.chance(0.3))
      .flatMap(({ name, args, isRepeatable }) => {
        const applied = (): string => ` @${name}${this.#arguments(args, isConstant)}`
        return isRepeatable && this.#random.chance(0.5) ? [applied(), applied()] : [applied()]
      })
      .join('')
  }

  #arguments(all: readonly GraphQLArgument[], isConstant = false): string {
    const given = all
      .filter((one) => isRequiredArgument(one) || this.#random.chance(0.4))
      .map((one) => `${one.name}: ${this.#value(one.type, 2, isConstant)}`)
    return given.length === 0 ? '' : `(${given.join(', ')})`
  }

  #selection(type: GraphQLCompositeType, depth: number, width: number): string {
    const parts = ['__typename']
    if (isAbstractType(type)) {
      for (const one of this.#random.some(this.#overlapping(type), 0, this.#writing.hasAliases === true ? 1 : 3)) {
        parts.push(`... on ${one.name}${this.#directives('INLINE_FRAGMENT')} ${this.#selection(one, depth - 1, width)}`)
      }
    }
    const names = isUnionType(type) ? [] : Object.keys(type.getFields())
    for (const name of this.#random.some(names, 0, width)) parts.push(this.#field(type, name, depth))
    return `{ ${parts.join(' ')} }`
  }

  /** The types that an object of the type may have besides. */
  #overlapping(type: GraphQLCompositeType): readonly GraphQLCompositeType[] {
    const possible = this.#objectsOf(type)
    return Object.values(this.#schema.getTypeMap()).filter(
      (other): other is GraphQLCompositeType =>
        isCompositeType(other) && other !== type && !this.#objectsOf(other).isDisjointFrom(possible),
    )
  }

  #objectsOf(type: GraphQLCompositeType): ReadonlySet<string> {
    if (isObjectType(type)) return new Set([type.name])
    return new Set(this.#schema.getPossibleTypes(type).map(({ name }) => name))
  }

  #field(type: GraphQLCompositeType, name: string, depth: number): string {
    const field = isUnionType(type) ? undefined : type.getFields()[name]
    if (field === undefined) return '__typename'
    const inner = getNamedType(field.type)
    if (isCompositeType(inner) && depth <= 0) return '__typename'
    const selection = isCompositeType(inner) ? ` ${this.#selection(inner, depth - 1, 3)}` : ''
    this.#aliases += 1
    const alias = this.#writing.hasAliases === true ? `a${this.#aliases}: ` : ''
    return `${alias}${name}${this.#arguments(field.args)}${this.#directives('FIELD')}${selection}`
  }

  #value(type: GraphQLInputType, depth: number, isConstant: boolean): string {
    if (!isConstant && this.#writing.hasVariables === true && this.#random.chance(0.3)) return this.#variable(type)
    if (isNonNullType(type)) return this.#given(type.ofType, depth, isConstant)
    return this.#random.chance(0.1) ? 'null' : this.#given(type, depth, isConstant)
  }

  /** A variable of the type. Some that may be null have a default. */
  #variable(type: GraphQLInputType): string {
    const name = `$v${this.#variables.length}`
    const value = isNonNullType(type) || !this.#random.chance(0.3) ? '' : ` = ${this.#value(type, 1, true)}`
    this.#variables.push(`${name}: ${type.toString()}${value}`)
    return name
  }

  #given(type: GraphQLNullableInputType, depth: number, isConstant: boolean): string {
    if (isListType(type)) return `[${this.#value(type.ofType, depth, isConstant)}]`
    if (isEnumType(type)) return this.#random.pick(type.getValues()).name
    if (!isInputObjectType(type)) return this.#random.pick(SCALARS[type.name] ?? ['"1"'])
    const fields = Object.values(type.getFields())
    const given = type.isOneOf
      ? [this.#random.pick(fields)]
      : fields.filter((field) => isRequiredInputField(field) || (depth > 0 && this.#random.chance(0.4)))
    const members = given.map(({ name, type: wanted }) => {
      const value = type.isOneOf && !isNonNullType(wanted) ? this.#given(wanted, depth - 1, true) : null
      return `${name}: ${value ?? this.#value(wanted, depth - 1, isConstant)}`
    })
    return `{ ${members.join(', ')} }`
  }
}
