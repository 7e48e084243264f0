/** The parts of a contract that an agent calls, in one form: tools of a manifest, operations of an API. */
import type { ArtifactType } from '../../../engine/internal.ts'
import { isJsonObject, type JsonObject } from '../../json/strict-json.ts'
import { nameOfToken } from '../../../engine/base.ts'
import { recordIn } from '../../json/unchecked-json.ts'

/** One tool or operation. */
export interface CallableUnit {
  readonly name: string
  /** An agent can call it by this name. */
  readonly isNamed: boolean
  readonly description: string
  readonly parameters: readonly UnitParameter[]
  /** The type of the result is stated. */
  readonly hasResult: boolean
  /** It states whether it only reads, or what it may destroy. */
  readonly statesEffects: boolean
}

interface UnitParameter {
  readonly name: string
  readonly isDescribed: boolean
  readonly isTyped: boolean
}

/** Types of contracts with such parts. */
export const SCORED_TYPES = ['mcp_manifest', 'agent_tools', 'openapi'] as const satisfies readonly ArtifactType[]
export type ScoredType = (typeof SCORED_TYPES)[number]

export function unitsOf(type: ScoredType, root: unknown): readonly CallableUnit[] {
  return type === 'openapi' ? openapiUnits(root) : toolsOf(root).map(toolUnit)
}

/** The tools of every form that docs/mcp.md lists. */
function toolsOf(root: unknown): readonly (readonly [string | null, JsonObject])[] {
  const list = toolList(root)
  if (Array.isArray(list)) return list.flatMap((item) => declarationsIn(item)).map((tool) => [null, tool])
  return isJsonObject(list)
    ? Object.entries(list).flatMap(([name, tool]) => (isJsonObject(tool) ? [[name, tool]] : []))
    : []
}

function toolList(root: unknown): unknown {
  if (!isJsonObject(root)) return root
  const { result, tools, toolConfig } = root
  if (isJsonObject(result)) return toolList(result)
  if (isJsonObject(toolConfig)) return toolConfig['tools']
  return tools ?? root
}

const NESTED = ['function', 'toolSpec', 'custom'] as const
const LISTS = ['functionDeclarations', 'function_declarations', 'tools'] as const

function declarationsIn(item: unknown): readonly JsonObject[] {
  if (!isJsonObject(item)) return []
  const list = LISTS.map((name) => item[name]).find((value) => Array.isArray(value))
  if (Array.isArray(list)) return list.flatMap((one) => declarationsIn(one))
  const nested = NESTED.map((name) => item[name]).find(isJsonObject)
  return [nested === undefined ? item : nested]
}

const SCHEMAS = ['inputSchema', 'input_schema', 'parameters', 'schema', 'parameter_definitions'] as const
const CALLABLE_NAME = /^[A-Za-z0-9_.-]{1,64}$/

function toolUnit([key, tool]: readonly [string | null, JsonObject]): CallableUnit {
  const name = key ?? trimmedText(tool['name'])
  const stated = SCHEMAS.map((member) => tool[member]).find(isJsonObject) ?? {}
  const schema = isJsonObject(stated['json']) ? stated['json'] : stated
  const annotations = recordIn(tool['annotations'])
  return {
    name,
    isNamed: CALLABLE_NAME.test(name),
    description: trimmedText(tool['description']),
    parameters: unitParameters(schema),
    hasResult: isJsonObject(tool['outputSchema']) || isJsonObject(tool['output_schema']),
    statesEffects: ['readOnlyHint', 'destructiveHint'].some((hint) => typeof annotations[hint] === 'boolean'),
  }
}

function unitParameters(schema: JsonObject): readonly UnitParameter[] {
  const properties = recordIn(schema['properties'])
  return Object.entries(properties).map(([name, value]) => parameter(name, value))
}

const TYPING = ['type', 'enum', 'const', '$ref', 'anyOf', 'oneOf', 'allOf'] as const

function parameter(name: string, schema: unknown): UnitParameter {
  const members = recordIn(schema)
  return {
    name,
    isDescribed: trimmedText(members['description']) !== '',
    isTyped: TYPING.some((keyword) => members[keyword] !== undefined),
  }
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace', 'query'] as const

function openapiUnits(root: unknown): readonly CallableUnit[] {
  const document = recordIn(root)
  const paths = recordIn(document['paths'])
  return Object.entries(paths).flatMap(([path, item]) => {
    if (!isJsonObject(item)) return []
    return METHODS.flatMap((method) => {
      const operation = item[method]
      return isJsonObject(operation)
        ? [operationUnit(document, `${method.toUpperCase()} ${path}`, item, operation)]
        : []
    })
  })
}

function operationUnit(document: JsonObject, name: string, item: JsonObject, operation: JsonObject): CallableUnit {
  const id = trimmedText(operation['operationId'])
  const declared = [...asArray(item['parameters']), ...asArray(operation['parameters'])].map((one) =>
    resolvedNode(document, one),
  )
  const body = resolvedNode(document, operation['requestBody'])
  const bodySchema = resolvedNode(document, firstSchema(document, body))
  return {
    name: id === '' ? name : id,
    isNamed: CALLABLE_NAME.test(id),
    description: trimmedText(operation['description']) || trimmedText(operation['summary']),
    parameters: [
      ...declared.filter((one) => one['in'] !== 'body').map(operationParameter),
      ...unitParameters(bodySchema),
    ],
    hasResult: hasResult(document, operation['responses']),
    // The method says it.
    statesEffects: true,
  }
}

function operationParameter(declared: JsonObject): UnitParameter {
  const name = trimmedText(declared['name'])
  const { isTyped } = parameter(name, declared['schema'] ?? declared)
  return {
    name,
    isDescribed: trimmedText(declared['description']) !== '',
    isTyped: isTyped || isJsonObject(declared['content']),
  }
}

function hasResult(document: JsonObject, responses: unknown): boolean {
  const good = Object.entries(recordIn(responses)).filter(([status]) => /^2(?:\d\d|XX)$/i.test(status))
  return good.some(([status, response]) => {
    const answer = resolvedNode(document, response)
    return status === '204' || answer['schema'] !== undefined || firstSchema(document, answer) !== null
  })
}

function firstSchema(document: JsonObject, holder: JsonObject): unknown {
  const content = isJsonObject(holder['content']) ? Object.values(holder['content']) : []
  return content.map((media) => resolvedNode(document, media)['schema']).find((schema) => schema !== undefined) ?? null
}

const DEEPEST = 20

/** The object itself, or what its local reference names. */
function resolvedNode(document: JsonObject, value: unknown): JsonObject {
  let at: unknown = value
  for (let step = 0; step < DEEPEST && isJsonObject(at) && typeof at['$ref'] === 'string'; step += 1) {
    const tokens = at['$ref'].startsWith('#/') ? at['$ref'].slice(2).split('/') : []
    at = tokens.reduce<unknown>((inner, token) => {
      const member = nameOfToken(decodeURIComponent(token))
      return isJsonObject(inner) && Object.hasOwn(inner, member) ? inner[member] : undefined
    }, document)
  }
  return recordIn(at)
}

function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function trimmedText(value: unknown): string {
  return typeof value === 'string' ? value.trim() : ''
}
