/** A contract as people read it: its operations or tools, each with what it takes and gives. Other formats stay text. */
import { LRUCache } from 'lru-cache'
import { DEFAULT_DOCUMENT_LIMITS, nameOfToken } from '../../engine/base.ts'
import { readDocument } from '../../engine/internal.ts'
import { isJsonObject } from '../json/strict-json.ts'
import { recordIn } from '../json/unchecked-json.ts'

/** Longer contracts are shown as text: reading them would delay everybody. */
const LONGEST_OUTLINED = 1024 * 1024
const MOST_PARTS = 5000
const MOST_FIELDS = 80
const DEEPEST = 4

interface OutlineField {
  /** As `items[].price`. */
  readonly name: string
  readonly type: string
  readonly isRequired: boolean
  readonly note: string
}

interface FieldList {
  readonly title: string
  readonly fields: readonly OutlineField[]
}

export interface Part {
  /** `GET /orders`, or the name of a tool. */
  readonly name: string
  readonly id: string | null
  readonly summary: string
  readonly isDeprecated: boolean
  /** Built when the part is shown. */
  readonly lists: () => readonly FieldList[]
}

interface Outline {
  readonly title: string | null
  readonly version: string | null
  readonly parts: readonly Part[]
}

type OutlineValue = Readonly<Record<string, unknown>>

/** Reading a contract takes longer than writing its page. */
const known = new LRUCache<string, { readonly outline: Outline | null }>({ max: 64 })

/** Null: the contract has no outline here. */
export function contractOutline({ type, content, digest }: OutlinedContract): Outline | null {
  const key = `${type} ${digest}`
  const cached = known.get(key)
  if (cached !== undefined) return cached.outline
  const outline = readOutline(type, content)
  known.set(key, { outline })
  return outline
}

interface OutlinedContract {
  readonly type: string
  readonly content: string
  readonly digest: string
}

function readOutline(type: string, content: string): Outline | null {
  if (content.length > LONGEST_OUTLINED || !/^(?:openapi|mcp_manifest|agent_tools)$/.test(type)) return null
  const read = readDocument(content, DEFAULT_DOCUMENT_LIMITS)
  const root: unknown = read.ok ? read.value.root : null
  if (type === 'openapi') return isJsonObject(root) ? openapi(root) : null
  const tools = Array.isArray(root) ? root : isJsonObject(root) ? root['tools'] : null
  return Array.isArray(tools)
    ? { title: null, version: null, parts: tools.slice(0, MOST_PARTS).flatMap(toolPart) }
    : null
}

/** True when a part contains each word of the search. */
export function matches({ name, id, summary }: Part, words: readonly string[]): boolean {
  const text = `${name} ${id ?? ''} ${summary}`.toLowerCase()
  return words.every((word) => text.includes(word))
}

export function searchWords(text: string | null): readonly string[] {
  return (text ?? '')
    .slice(0, 200)
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace'] as const

function openapi(root: OutlineValue): Outline {
  const info = memberObject(root, 'info')
  const parts = Object.entries(memberObject(root, 'paths')).flatMap(([path, item]) =>
    isJsonObject(item)
      ? METHODS.filter((method) => isJsonObject(item[method])).map((method) =>
          operation(root, `${method.toUpperCase()} ${path}`, item, memberObject(item, method)),
        )
      : [],
  )
  return { title: outlineText(info, 'title'), version: outlineText(info, 'version'), parts: parts.slice(0, MOST_PARTS) }
}

function operation(root: OutlineValue, name: string, item: OutlineValue, found: OutlineValue): Part {
  return {
    name,
    id: outlineText(found, 'operationId'),
    summary: outlineText(found, 'summary') ?? outlineText(found, 'description') ?? '',
    isDeprecated: found['deprecated'] === true,
    lists: () => [
      {
        title: 'Parameters',
        fields: parameters(root, [...listIn(item, 'parameters'), ...listIn(found, 'parameters')]),
      },
      { title: 'Request body', fields: bodyFields(root, resolvedSchema(root, found['requestBody'])) },
      ...Object.entries(memberObject(found, 'responses')).map(([status, answer]) => ({
        title: `Answer ${status}`,
        fields: bodyFields(root, resolvedSchema(root, answer)),
      })),
    ],
  }
}

function toolPart(tool: unknown): readonly Part[] {
  if (!isJsonObject(tool)) return []
  const inner = isJsonObject(tool['function']) ? tool['function'] : tool
  const name = outlineText(inner, 'name')
  const schema = ['inputSchema', 'input_schema', 'parameters'].map((member) => inner[member]).find(isJsonObject)
  if (name === null) return []
  return [
    {
      name,
      id: outlineText(inner, 'title'),
      summary: outlineText(inner, 'description') ?? '',
      isDeprecated: false,
      lists: () => [
        { title: 'Input', fields: outlinedFields(schema ?? {}, schema, '', DEEPEST) },
        {
          title: 'Output',
          fields: outlinedFields(memberObject(inner, 'outputSchema'), inner['outputSchema'], '', DEEPEST),
        },
      ],
    },
  ]
}

function parameters(root: OutlineValue, list: readonly unknown[]): readonly OutlineField[] {
  return list.flatMap((entry) => {
    const found = resolvedSchema(root, entry)
    if (!isJsonObject(found)) return []
    const schema = resolvedSchema(root, found['schema'] ?? found)
    return [
      {
        name: outlineText(found, 'name') ?? '',
        type: outlinedType(root, schema),
        isRequired: found['required'] === true,
        note: [outlineText(found, 'in'), outlineText(found, 'description')].filter((text) => text !== null).join(', '),
      },
    ]
  })
}

function bodyFields(root: OutlineValue, body: unknown): readonly OutlineField[] {
  if (!isJsonObject(body)) return []
  const medium = Object.values(memberObject(body, 'content')).find(isJsonObject)
  const schema = resolvedSchema(root, medium === undefined ? body['schema'] : medium['schema'])
  return isJsonObject(schema) ? outlinedFields(root, schema, '', DEEPEST) : []
}

/** The members of a schema, those of nested ones behind them. */
function outlinedFields(root: OutlineValue, given: unknown, prefix: string, depth: number): readonly OutlineField[] {
  const schema = resolvedSchema(root, given)
  if (!isJsonObject(schema) || depth === 0) return []
  if (isJsonObject(schema['items'])) return outlinedFields(root, schema['items'], `${prefix}[]`, depth)
  const required = listIn(schema, 'required')
  const found: OutlineField[] = []
  for (const member of ['allOf', 'anyOf', 'oneOf'])
    for (const part of listIn(schema, member)) found.push(...outlinedFields(root, part, prefix, depth - 1))
  for (const [key, value] of Object.entries(memberObject(schema, 'properties'))) {
    if (found.length >= MOST_FIELDS) break
    const name = prefix === '' ? key : `${prefix}.${key}`
    const inner = resolvedSchema(root, value)
    const note = isJsonObject(inner) ? (outlineText(inner, 'description') ?? '') : ''
    found.push({ name, type: outlinedType(root, inner), isRequired: required.includes(key), note })
    found.push(...outlinedFields(root, inner, name, depth - 1))
  }
  return found.slice(0, MOST_FIELDS)
}

function outlinedType(root: OutlineValue, given: unknown): string {
  const schema = resolvedSchema(root, given)
  if (!isJsonObject(schema)) return 'any'
  const { type, format, items } = schema
  const values = listIn(schema, 'enum')
  if (values.length > 0)
    return values
      .slice(0, 12)
      .map((value) => JSON.stringify(value))
      .join(' | ')
  if (type === 'array')
    return `list of ${outlinedType(root, isJsonObject(items) && '$ref' in items ? { type: 'object' } : items)}`
  const name = Array.isArray(type) ? type.join(' or ') : typeof type === 'string' ? type : 'any'
  return typeof format === 'string' ? `${name} (${format})` : name
}

/** Follows references within the document, a few steps. */
function resolvedSchema(root: OutlineValue, given: unknown): unknown {
  let value = given
  for (let steps = 0; steps < 8 && isJsonObject(value) && typeof value['$ref'] === 'string'; steps += 1) {
    let target: unknown = root
    for (const segment of value['$ref'].replace(/^#\/?/, '').split('/')) {
      const key = nameOfToken(segment)
      target = isJsonObject(target) && Object.hasOwn(target, key) ? target[key] : undefined
    }
    value = target
  }
  return value
}

function memberObject(value: OutlineValue, member: string): OutlineValue {
  const found = value[member]
  return recordIn(found)
}

function listIn(value: OutlineValue, member: string): readonly unknown[] {
  const found = value[member]
  return Array.isArray(found) ? found : []
}

function outlineText(value: OutlineValue, member: string): string | null {
  const found = value[member]
  return typeof found === 'string' && found !== '' ? found : null
}
