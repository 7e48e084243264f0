/**
 * A server.json as a contract with its users: the schema of the values that a client supplies to run or reach the
 * server. If a package or address is removed, a variable becomes required, or a choice is removed, a working
 * configuration fails.
 */
import { lookupTable } from '../../../engine/base.ts'
import { isJsonObject, type JsonObject } from '../../json/strict-json.ts'
import { objectsIn, recordIn, textIn } from '../../json/unchecked-json.ts'
import { packageIdentity } from './package-identity.ts'

/** In each of the places where a package or an address asks for values. Older registries write snake case. */
export const INPUTS: readonly (readonly [property: string, members: readonly string[]])[] = [
  ['environment', ['environmentVariables', 'environment_variables']],
  ['headers', ['headers']],
  ['variables', ['variables']],
  ['runtime arguments', ['runtimeArguments', 'runtime_arguments']],
  ['package arguments', ['packageArguments', 'package_arguments']],
]

const TYPES: Readonly<Record<string, string>> = lookupTable({ number: 'number', boolean: 'boolean' })

/**
 * JSON Schema (2020-12) of the configuration. Texts of the publisher stay in it as descriptions. The object is open: a package or
 * address that goes is a warning, which a person decides, and not a refusal of values.
 */
export function configurationSchema(server: JsonObject): string {
  const version = textIn(server['version']) ?? ''
  const packages = objectsIn(server['packages']).map((held) => packageWay(held, version))
  const ways = numbered([...packages, ...objectsIn(server['remotes']).map(remoteWay)])
  return JSON.stringify({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: textIn(server['name']) ?? '',
    description: textIn(server['description']) ?? '',
    type: 'object',
    properties: Object.fromEntries(ways),
  })
}

type NamedSchema = readonly [name: string, schema: JsonObject]

/** Several of one name are all kept: two tags of one image, two versions of one package. */
function numbered(ways: readonly NamedSchema[]): readonly NamedSchema[] {
  const seen = new Map<string, number>()
  return ways.map(([name, schema]) => {
    const nth = (seen.get(name) ?? 0) + 1
    seen.set(name, nth)
    return [nth === 1 ? name : `${name} #${nth}`, schema]
  })
}

/** Its version is no part of the name: that one changes is what a publication is for. */
function packageWay(held: JsonObject, serverVersion: string): NamedSchema {
  const registry = textIn(held['registryType'] ?? held['registry_type'] ?? held['registry_name']) ?? ''
  const base = textIn(held['registryBaseUrl'] ?? held['registry_base_url']) ?? ''
  const transport = recordIn(held['transport'])
  const address = textIn(transport['url']) ?? ''
  const versions = [textIn(held['version']) ?? '', serverVersion]
  const identity = packageIdentity(registry, textIn(held['identifier'] ?? held['name']) ?? '', versions)
  const place = [registry, base, identity, textIn(transport['type']) ?? '', address]
  return [`package ${place.filter((part) => part !== '').join(' ')}`, wayOf([held, transport])]
}

function remoteWay(held: JsonObject): NamedSchema {
  const type = textIn(held['type'] ?? held['transport_type']) ?? ''
  return [`remote ${type} ${textIn(held['url']) ?? ''}`, wayOf([held])]
}

function wayOf(holders: readonly JsonObject[]): JsonObject {
  const groups = INPUTS.flatMap(([property, members]) => {
    const inputs = holders.flatMap((holder) => members.flatMap((member) => inputsOf(holder[member])))
    return inputs.length === 0 ? [] : [[property, groupOf(inputs)] as const]
  })
  const required = groups.flatMap(([property, { required: within }]) => (within.length === 0 ? [] : [property]))
  return { type: 'object', properties: Object.fromEntries(groups), required }
}

/** Lists of named values, or a record of them by name (variables of an address). */
export function inputsOf(held: unknown): readonly JsonObject[] {
  if (Array.isArray(held)) return objectsIn(held)
  if (!isJsonObject(held)) return []
  return Object.entries(held).map(([name, input]) => ({ name, ...recordIn(input) }))
}

function groupOf(inputs: readonly JsonObject[]) {
  const named = inputs.flatMap((input, index) => withVariables(inputName(input, index), input))
  return {
    type: 'object',
    properties: Object.fromEntries(named.map(([name, input]) => [name, schemaOfInput(input)])),
    required: named.flatMap(([name, input]) => (isRequired(input) ? [name] : [])),
  }
}

/** A value can be composed of others. The user is asked for those. */
function withVariables(name: string, input: JsonObject): readonly (readonly [name: string, input: JsonObject])[] {
  const variables = inputsOf(input['variables']).map(
    (held, index) => [`${name} {${inputName(held, index)}}`, held] as const,
  )
  return [[name, input], ...variables]
}

function inputName(input: JsonObject, index: number): string {
  return (textIn(input['name'] ?? input['valueHint'] ?? input['value_hint']) ?? '') || `#${index + 1}`
}

/** What has a value or a default is asked of nobody. */
function isRequired(input: JsonObject): boolean {
  const isAsked = (input['isRequired'] ?? input['is_required']) === true
  return isAsked && input['value'] === undefined && input['default'] === undefined
}

function schemaOfInput(input: JsonObject): JsonObject {
  const { value, choices, format, description, default: fallback } = input
  return {
    type: TYPES[textIn(format) ?? ''] ?? 'string',
    ...(typeof description === 'string' ? { description } : {}),
    ...(Array.isArray(choices) ? { enum: choices } : {}),
    ...(value === undefined ? {} : { const: value }),
    ...(fallback === undefined ? {} : { default: fallback }),
    ...((input['isSecret'] ?? input['is_secret']) === true ? { writeOnly: true } : {}),
  }
}

/** The tools that a publisher lists beside the server, as an MCP manifest; null: none. */
export function listedTools(server: JsonObject): string | null {
  const meta = isJsonObject(server['_meta']) ? Object.values(server['_meta']) : []
  const lists = [server, ...meta].flatMap((holder) =>
    isJsonObject(holder) && Array.isArray(holder['tools']) ? [holder['tools']] : [],
  )
  const tools = lists.flat().filter(isJsonObject)
  return tools.length === 0 ? null : JSON.stringify({ tools })
}
