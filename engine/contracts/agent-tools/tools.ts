/**
 * Reads the tools of an agent, in any form, as tools of an MCP manifest. One walker and one set of rules then judge
 * both. Locations in the common form are mapped back to the document.
 */
import { ok, type Result } from '../../common/result.ts'
import { isRecord, memberOf, pointerOf, type JsonRecord, type Located } from '../../schema/located.ts'
import type { SourceDocument } from '../document.ts'
import type { McpItem, McpItems } from '../mcp-manifest.ts'
import type { Locate } from '../positions.ts'
import { firstAt, unreadableAt } from '../unreadable.ts'
import { toolEntries, type ToolEntry } from './entries.ts'
import type { ToolForm, ToolKind } from './vendor-formats.ts'
import { lookupTable } from '../../common/lookup-table.ts'
import { geminiName, plainGeminiSchema, plainGeminiSettings } from './gemini.ts'
import { readToolChoice } from './choice.ts'
import { plainFormat, plainSetting } from './settings.ts'
import { refusedPart } from './strict-schemas.ts'

/** Python type names that some providers use. Other names are kept, so that a change of one is reported. */
const TYPES: Readonly<Record<string, string>> = lookupTable({
  str: 'string',
  int: 'integer',
  float: 'number',
  bool: 'boolean',
  list: 'array',
  dict: 'object',
})

function schemaOfDefinitions(definitions: JsonRecord): JsonRecord {
  const entries = Object.entries(definitions)
  const required = entries.filter(([, one]) => isRecord(one) && one['required'] === true).map(([name]) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, one]) => [name, isRecord(one) ? schemaOfDefinition(one) : {}])),
    required,
  }
}

/** The flag belongs to the object around it. What is no flag stays, so that it is reported. */
function schemaOfDefinition({ required, type, ...rest }: JsonRecord): JsonRecord {
  const kept = required === undefined || typeof required === 'boolean' ? rest : { ...rest, required }
  return { ...kept, type: typeof type === 'string' && Object.hasOwn(TYPES, type) ? TYPES[type] : type }
}

/** Members of a tool that MCP does not have. */
export interface ToolSettings {
  readonly kind: ToolKind
  /** The provider's name of a hosted tool. */
  readonly type: string | null
  readonly strict: Located | null
  /** Whether the arguments keep to the schema, stated or by default. */
  readonly isStrict: boolean
  /** Where the schema is not what the provider demands of a tool that states to be strict. Null: it is, or none is known. */
  readonly refusedAt: string | null
  /** The input format of a custom tool. */
  readonly format: Located | null
  /** Settings by member: all of a hosted tool, and those of others that decide when and how it is called. */
  readonly members: ReadonlyMap<string, Located>
}

export interface AgentTools {
  readonly items: McpItems
  readonly settings: ReadonlyMap<string, ToolSettings>
  /** What the request states of the choice of tools, by name. */
  readonly choice: ReadonlyMap<string, Located>
  /** Names of the forms, sorted and joined. Null if there is no tool. */
  readonly form: string | null
  /** Maps a pointer of the common form to one into the document. */
  readonly sourceOf: (pointer: string) => string
  readonly locate: Locate
}

/** Reads tools in any form. The problem names the first unknown one by pointer and position. */
export function readAgentTools({ root, locate }: SourceDocument): Result<AgentTools> {
  const entries = toolEntries(root)
  if (entries === null) return toolFault(locate, '', 'it holds no tools in a form that is known', FORMS_FIX)
  const items = new Map<string, McpItem>()
  const settings = new Map<string, ToolSettings>()
  const sources = new Map<string, string>()
  const forms = new Set<string>()
  const places = new Map<string, string>()
  for (const entry of entries) {
    const read = readTool(entry, sources)
    const pointer = pointerOf(entry.located.at)
    if (read === null) return toolFault(locate, pointer, 'the tool is in no form that is known', FORMS_FIX)
    const { item } = read
    const first = places.get(item.name)
    if (first !== undefined) {
      const place = firstAt(locate(first), first)
      return toolFault(locate, pointer, `there are two tools of the name ${JSON.stringify(item.name)}${place}`)
    }
    places.set(item.name, pointer)
    items.set(item.name, item)
    settings.set(item.name, read.settings)
    forms.add(read.form.name)
  }
  const form = forms.size === 0 ? null : [...forms].sort().join(', ')
  return ok({
    items,
    settings,
    choice: readToolChoice(root),
    form,
    sourceOf: (pointer) => sourcePointer(pointer, sources),
    locate,
  })
}

const FORMS_FIX =
  'Known are the forms of OpenAI (chat completions and responses), Anthropic, Gemini, Amazon Bedrock, Cohere, the Vercel AI SDK and LangChain.'

function toolFault(locate: Locate, pointer: string, what: string, fix?: string): Result<never> {
  return unreadableAt(locate, pointer, `as the tools of an agent: ${what}`, fix)
}

/** Without parameters a function takes none (OpenAI, FunctionDefinition; Gemini, FunctionDeclaration). */
const NO_PARAMETERS = { type: 'object', properties: {} }
const NO_OTHER_PARAMETERS = { ...NO_PARAMETERS, additionalProperties: false }

/**
 * Writes an empty list of parameters as the other side does. A tool that states none, and an empty
 * object, closed or not, take the same calls.
 */
export function withEmptyParametersAs(others: McpItems, items: McpItems): McpItems {
  return new Map(
    [...items].map(([name, item]) => {
      const [own, other] = [inputOf(item), inputOf(others.get(name))]
      if (own !== NO_PARAMETERS || !isRecord(other) || !isClosedEmpty(other)) return [name, item]
      return [name, { ...item, value: { ...Object(item.value), inputSchema: NO_OTHER_PARAMETERS } }]
    }),
  )
}

function inputOf(item: McpItem | undefined): unknown {
  return isRecord(item?.value) ? item.value['inputSchema'] : undefined
}

/** Whether a schema admits an object without members only. */
function isClosedEmpty({ type, properties, patternProperties, additionalProperties }: JsonRecord): boolean {
  const isNamed = [properties, patternProperties].some(
    (members) => isRecord(members) && Object.keys(members).length > 0,
  )
  return type === 'object' && additionalProperties === false && !isNamed
}

interface ReadTool {
  readonly item: McpItem
  readonly settings: ToolSettings
  readonly form: ToolForm
}

function readTool({ located, form, key, namespace }: ToolEntry, sources: Map<string, string>): ReadTool | null {
  if (form === null || !isRecord(located.value)) return null
  const { parts } = form
  const stated = key ?? partAt(located, parts.name)?.value
  if (typeof stated !== 'string' || stated === '') return null
  const name = namespace === null ? `${stated}${form.isNamespace === true ? '.*' : ''}` : `${namespace}.${stated}`
  const origin = pointerOf(located.at)
  const value: Record<string, unknown> = { name }
  const put = (member: string, part: Located | null, held: unknown): void => {
    if (part === null) return
    value[member] = held
    sources.set(`${origin}/${member}`, pointerOf(part.at))
  }
  put('name', key === null ? partAt(located, parts.name) : located, name)
  const description = partAt(located, parts.description)
  put('description', description, description?.value)
  putSchemas(located, form, (member, part, schemaOf) => {
    put(
      member,
      part,
      schemaOf((plain, written) => {
        if (part !== null) sources.set(`${origin}/${member}${plain}`, `${pointerOf(part.at)}${written}`)
      }),
    )
  })
  const strict = partAt(located, parts.strict ?? [])
  put('strict', strict, strict?.value)
  const properties = value['inputSchema'] === undefined ? partAt(located, parts.arguments ?? []) : null
  if (properties !== null) {
    // LangChain's `args` are only the properties. The object around them has no place of its own.
    put('inputSchema', located, { type: 'object', properties: properties.value })
    sources.set(`${origin}/inputSchema/properties`, pointerOf(properties.at))
  }
  const definitions = partAt(located, parts.definitions ?? [])
  if (definitions !== null && isRecord(definitions.value)) {
    put('inputSchema', definitions, schemaOfDefinitions(definitions.value))
    for (const member of ['properties', 'required'])
      sources.set(`${origin}/inputSchema/${member}`, pointerOf(definitions.at))
  }
  // The input of a custom or hosted tool is not an object.
  if (form.kind === 'function' && value['inputSchema'] === undefined) put('inputSchema', located, NO_PARAMETERS)
  // A model reads examples as it reads the description.
  const examples = memberOf(located, EXAMPLES)
  put(EXAMPLES, examples, examples?.value)
  if (form.kind === 'custom') {
    const format = partAt(located, parts.format ?? [])
    put('format', format, format?.value)
  }
  return { item: { ...located, value, name }, settings: toolSettings(located, form, value['inputSchema']), form }
}

/** @param put reads the schema, and learns of members that have another name in the document */
function putSchemas(
  tool: Located,
  { parts, isGemini }: ToolForm,
  put: (
    member: string,
    part: Located | null,
    schemaOf: (renamed: (plain: string, written: string) => void) => unknown,
  ) => void,
): void {
  const [input, output] = [partAt(tool, parts.inputSchema), partAt(tool, parts.outputSchema ?? [])]
  for (const [member, part] of [
    ['inputSchema', input],
    ['outputSchema', output],
  ] as const)
    put(member, part, (renamed) => {
      if (isGemini === true) return plainGeminiSchema(part?.value, renamed)
      return part === tool ? withoutDescription(part.value) : part?.value
    })
}

/** A tool that is its own schema has its description once. */
function withoutDescription(schema: unknown): unknown {
  if (!isRecord(schema)) return schema
  const { title: _title, description: _description, ...rest } = schema
  return rest
}

/** The first path that leads to a value. Null counts as no value. */
function partAt(tool: Located, ways: readonly (readonly string[])[]): Located | null {
  for (const way of ways) {
    const found = way.reduce<Located | null>((owner, step) => (owner === null ? null : memberOf(owner, step)), tool)
    if (found !== null && found.value !== null) return found
  }
  return null
}

function toolSettings(tool: Located, form: ToolForm, schema: unknown): ToolSettings {
  const { kind, parts, isNamespace } = form
  const owner: JsonRecord = isRecord(tool.value) ? tool.value : {}
  const type = kind === 'hosted' && typeof owner['type'] === 'string' ? owner['type'] : null
  const members = new Map<string, Located>()
  for (const name of Object.keys(owner)) {
    if (kind === 'hosted' ? isNamespace === true || IDENTITY.has(name) : !CALLING.has(name)) continue
    const member = memberOf(tool, name)
    const stated = form.isGemini === true ? plainGeminiSettings(member?.value) : member?.value
    const value = name === EXAMPLES ? stated : plainSetting(name, stated, owner)
    if (member !== null && value !== null)
      members.set(form.isGemini === true ? geminiName(name) : name, { ...member, value })
  }
  const format = kind === 'custom' ? plainFormat(partAt(tool, parts.format ?? [])) : null
  const strict = partAt(tool, parts.strict ?? [])
  const isStrict = strict === null ? form.isStrictByDefault === true : strict.value === true
  const refusedAt =
    strict?.value === true && form.strictSchema !== undefined ? refusedPart(schema, form.strictSchema) : null
  return { kind, type, strict, isStrict, refusedAt, format, members }
}

const EXAMPLES = 'input_examples'

/** Members of a tool that decide when it is visible, who calls it, whether a person is asked, and how its result is used. */
const CALLING: ReadonlySet<string> = new Set([
  'allowed_callers',
  'behavior',
  'defer_loading',
  'eager_input_streaming',
  'needsApproval',
  'needs_approval',
  'requireConfirmation',
  'require_confirmation',
  'return_direct',
  EXAMPLES,
])

/** Members of a hosted tool that are reported elsewhere, and those that contain a caller's secret. */
const IDENTITY: ReadonlySet<string> = new Set([
  'type',
  'name',
  'server_label',
  'mcp_server_name',
  'server_description',
  'cache_control',
  'authorization',
  'authorization_token',
])

/** Replaces the longest known prefix of the pointer by its place in the document. */
function sourcePointer(pointer: string, sources: ReadonlyMap<string, string>): string {
  for (let end = pointer.length; end > 0; end = pointer.lastIndexOf('/', end - 1)) {
    const source = sources.get(pointer.slice(0, end))
    if (source !== undefined) return source + pointer.slice(end)
  }
  return pointer
}
