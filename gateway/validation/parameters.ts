/** The values that a request gives to the parameters of an operation, read off path, query, header and cookie as their style says. */
import { lookupTable, percentDecoded } from '../../engine/base.ts'
import { literalsOf, valuesBetween } from './path-templates.ts'
import type { CheckedContract, ContractPart } from './contract.ts'

type ParameterLocation = 'path' | 'query' | 'header' | 'cookie'

interface MessageParameter {
  readonly name: string
  readonly place: ParameterLocation
  readonly isRequired: boolean
  /** Pointer to its schema; null: none that is read here. */
  readonly schemaAt: string | null
  readonly isArray: boolean
  readonly isObject: boolean
  readonly style: string
  readonly isExploded: boolean
}

/** Those of the path item, and those of the operation in their place. */
export function operationParameters(
  contract: CheckedContract,
  item: ContractPart,
  operation: ContractPart,
): readonly MessageParameter[] {
  const byKey = new Map<string, MessageParameter>()
  for (const part of [...contract.items(item, 'parameters'), ...contract.items(operation, 'parameters')]) {
    const parameter = readParameter(contract, part)
    if (parameter !== null) byKey.set(`${parameter.place} ${parameter.name}`, parameter)
  }
  return [...byKey.values()]
}

const PLACES: ReadonlySet<unknown> = new Set<ParameterLocation>(['path', 'query', 'header', 'cookie'])
/** Described elsewhere in an operation (OpenAPI, Parameter Object). */
const NOT_PARAMETERS: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization'])
const STYLES: Readonly<Record<ParameterLocation, string>> = {
  path: 'simple',
  query: 'form',
  header: 'simple',
  cookie: 'form',
}
/** Swagger 2.0: `collectionFormat`. */
const COLLECTIONS: Readonly<Record<string, readonly [style: string, isExploded: boolean]>> = lookupTable({
  multi: ['form', true],
  csv: ['form', false],
  ssv: ['spaceDelimited', false],
  pipes: ['pipeDelimited', false],
})

function readParameter(contract: CheckedContract, part: ContractPart): MessageParameter | null {
  const { name, in: place, required, style, explode, collectionFormat, type } = part.value
  if (typeof name !== 'string' || !isParameterLocation(place)) return null
  if (place === 'header' && NOT_PARAMETERS.has(name.toLowerCase())) return null
  // Swagger 2.0 writes the schema into the parameter itself.
  const schema = contract.member(part, 'schema') ?? (typeof type === 'string' ? part : null)
  const collection =
    typeof collectionFormat === 'string'
      ? COLLECTIONS[collectionFormat]
      : schema === part
        ? COLLECTIONS['csv']
        : undefined
  const ownStyle = typeof style === 'string' ? style : (collection?.[0] ?? STYLES[place])
  return {
    name,
    place,
    isRequired: required === true || place === 'path',
    schemaAt: schema?.at ?? null,
    isArray: schema !== null && hasType(schema, 'array'),
    isObject: schema !== null && (hasType(schema, 'object') || 'properties' in schema.value),
    style: ownStyle,
    isExploded: typeof explode === 'boolean' ? explode : (collection?.[1] ?? ownStyle === 'form'),
  }
}

function isParameterLocation(value: unknown): value is ParameterLocation {
  return PLACES.has(value)
}

function hasType({ value }: ContractPart, type: string): boolean {
  const held = value['type']
  return held === type || (Array.isArray(held) && held.includes(type))
}

export interface RequestValues {
  readonly path: ReadonlyMap<string, string>
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string>>
  readonly cookies: ReadonlyMap<string, string>
}

/** `given` undefined: it is not there. `isRead` false: written in a way that is not read here. */
interface GivenValue {
  readonly given: unknown
  readonly isRead: boolean
}

export function parameterValue(parameter: MessageParameter, values: RequestValues): GivenValue {
  const { name, place, isArray, isObject, isExploded, style } = parameter
  if (place === 'query') return queryValue(parameter, values.query)
  const text =
    place === 'path'
      ? values.path.get(name)
      : place === 'header'
        ? values.headers[name.toLowerCase()]
        : values.cookies.get(name)
  if (text === undefined) return { given: undefined, isRead: true }
  if (isObject || (style !== 'simple' && style !== 'form') || (isArray && place === 'cookie' && isExploded))
    return { given: text, isRead: false }
  return { given: isArray ? text.split(',') : text, isRead: true }
}

const SEPARATORS: Readonly<Record<string, string>> = lookupTable({ form: ',', spaceDelimited: ' ', pipeDelimited: '|' })

function queryValue(
  { name, isArray, isObject, isExploded, style }: MessageParameter,
  query: URLSearchParams,
): GivenValue {
  if (style === 'deepObject') {
    const members = [...query].flatMap(([key, value]) => {
      const inner = key.startsWith(`${name}[`) && key.endsWith(']') ? key.slice(name.length + 1, -1) : null
      return inner === null ? [] : [[inner, value] as const]
    })
    const isFlat = members.every(
      ([inner], index) => !inner.includes('[') && members.findIndex(([other]) => other === inner) === index,
    )
    return { given: members.length === 0 ? undefined : Object.fromEntries(members), isRead: isFlat }
  }
  // The members of an exploded object stand in the query by their own names.
  if (isObject) return { given: query.get(name) ?? '', isRead: false }
  const all = query.getAll(name)
  if (all.length === 0) return { given: undefined, isRead: true }
  if (isArray)
    return { given: isExploded ? all : all.flatMap((text) => text.split(SEPARATORS[style] ?? ',')), isRead: true }
  return { given: all.length === 1 ? all[0] : all, isRead: true }
}

/** The segments of a path that stand for a template's names; null where the path is none of the template. */
export function pathValues(template: string, path: string): ReadonlyMap<string, string> | null {
  const [parts, segments] = [template.split('/'), path.split('/')]
  if (parts.length !== segments.length) return null
  const values = new Map<string, string>()
  for (const [index, part] of parts.entries()) {
    const texts = valuesBetween(literalsOf(part), segments[index] ?? '')
    if (texts === null) return null
    const names = part.match(/\{[^{}]*\}/g) ?? []
    for (const [position, name] of names.entries()) values.set(name.slice(1, -1), percentDecoded(texts[position] ?? ''))
  }
  return values
}

export function cookiesOf(header: string | undefined): ReadonlyMap<string, string> {
  const pairs = (header ?? '').split(';').flatMap((pair) => {
    const sign = pair.indexOf('=')
    return sign === -1 ? [] : [[pair.slice(0, sign).trim(), percentDecoded(pair.slice(sign + 1).trim())] as const]
  })
  return new Map(pairs)
}
