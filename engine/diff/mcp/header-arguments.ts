/**
 * Arguments that clients repeat in HTTP headers, by `x-mcp-header` in the schema of a tool (MCP 2026-07-28, Streamable
 * HTTP). Servers refuse a call without the header, and clients leave out a tool whose statements are not valid.
 */
import { NAMED_SCHEMAS, VALUES } from '../../contracts/schema-keywords.ts'
import type { McpItem } from '../../contracts/mcp-manifest.ts'
import { isRecord, memberOf, pointerOf, stepInto, type Located } from '../../schema/located.ts'
import type { McpWalk } from './walk.ts'

const STATED = 'x-mcp-header'

interface HeaderArgument {
  readonly header: string
  /** Where the header is stated. */
  readonly located: Located
}

interface HeaderArguments {
  /** By the path of the argument. */
  readonly arguments: ReadonlyMap<string, HeaderArgument>
  /** The paths of all arguments that the schema names. */
  readonly named: ReadonlySet<string>
  /** The first statement that clients refuse. Null: there is none. */
  readonly refused: Located | null
}

export function compareHeaderArguments(before: McpItem, after: McpItem, walk: McpWalk): void {
  const [base, head] = [headerArguments(before), headerArguments(after)]
  if (head.refused !== null) {
    if (base.refused === null)
      reportHeader(walk, 'mcp-tool-header-refused', { path: '', before: null, after: null }, head.refused)
    return
  }
  for (const [path, { header, located }] of head.arguments) {
    const known = base.arguments.get(path)
    // Nobody sends an argument that was not named.
    if (!base.named.has(path) || known?.header.toLowerCase() === header.toLowerCase()) continue
    const values = { path, before: known?.header ?? null, after: header }
    reportHeader(walk, 'mcp-tool-header-required', values, located)
  }
  for (const [path, { header, located }] of base.arguments) {
    if (!head.named.has(path) || head.arguments.has(path)) continue
    reportHeader(walk, 'mcp-tool-header-dropped', { path, before: header, after: null }, located)
  }
}

interface HeaderChange {
  readonly path: string
  readonly before: string | null
  readonly after: string | null
}

function reportHeader(
  walk: McpWalk,
  rule: 'mcp-tool-header-refused' | 'mcp-tool-header-required' | 'mcp-tool-header-dropped',
  { path, before, after }: HeaderChange,
  { at }: Located,
): void {
  const side = rule === 'mcp-tool-header-dropped' ? 'base' : 'head'
  walk.add({ rule, subject: `${STATED} ${path}`, name: path, side, location: pointerOf(at), before, after })
}

function headerArguments(tool: McpItem): HeaderArguments {
  const schema = memberOf(tool, 'inputSchema')
  return schema === null ? NONE : new HeaderSurvey().of(schema)
}

const NONE: HeaderArguments = { arguments: new Map(), named: new Set(), refused: null }

/** RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const WRITTEN: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean'])

/** One walk over a schema. The reader bounds the depth. */
class HeaderSurvey {
  readonly #arguments = new Map<string, HeaderArgument>()
  readonly #named = new Set<string>()
  readonly #headers = new Set<string>()
  #refused: Located | null = null

  of(schema: Located): HeaderArguments {
    this.#schema(schema, [])
    return { arguments: this.#arguments, named: this.#named, refused: this.#refused }
  }

  /** @param path of the argument; null where no call has one place for its value */
  #schema(schema: Located, path: readonly string[] | null): void {
    if (!isRecord(schema.value)) return
    const stated = memberOf(schema, STATED)
    if (stated !== null) this.#statement(stated, schema.value['type'], path)
    for (const keyword of Object.keys(schema.value)) {
      const held = memberOf(schema, keyword)
      if (held === null || keyword === STATED || VALUES.has(keyword)) continue
      if (keyword === 'properties') this.#properties(held, path)
      else this.#others(held, NAMED_SCHEMAS.has(keyword))
    }
  }

  #properties(properties: Located, path: readonly string[] | null): void {
    for (const [name, property] of membersIn(properties)) {
      const below = path === null ? null : [...path, name]
      if (below !== null) this.#named.add(pathName(below))
      this.#schema(property, below)
    }
  }

  #others(held: Located, isNamed: boolean): void {
    if (!isNamed) this.#schema(held, null)
    if (isNamed || Array.isArray(held.value)) for (const [, part] of membersIn(held)) this.#schema(part, null)
  }

  #statement(stated: Located, type: unknown, path: readonly string[] | null): void {
    const { value } = stated
    const isValid = typeof value === 'string' && TOKEN.test(value) && WRITTEN.has(type)
    if (path === null || path.length === 0 || !isValid || this.#headers.has(value.toLowerCase())) {
      this.#refused ??= stated
      return
    }
    this.#headers.add(value.toLowerCase())
    this.#arguments.set(pathName(path), { header: value, located: stated })
  }
}

function membersIn({ value, at, document }: Located): readonly (readonly [string, Located])[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).map(([name, part]: [string, unknown]) => [
    name,
    { value: part, at: stepInto(at, name), document },
  ])
}

function pathName(path: readonly string[]): string {
  return path.join('/')
}
