/** The parts of an MCP manifest that are compared member by member; tools of agents are read as those of a manifest. */
import { isRecord, type Located } from '../schema/located.ts'
import type { SchemaSource } from '../schema/source.ts'
import {
  FLAG,
  KEYWORDS,
  keywordsOfDraft,
  list,
  malformedParts,
  needed,
  NUMBER,
  one,
  partTable,
  primitiveForm,
  TEXT,
  TEXTS,
  withoutNulls,
  type MalformedPart,
  type PartTable,
} from './malformed-parts.ts'
import { DRAFTS } from './schema-drafts.ts'

/** Texts that models read. */
const DESCRIBED = { title: TEXT, description: TEXT } as const

/** MCP, Annotations: who a resource is for, how much it matters, when it changed. */
const ROLES = primitiveForm('a list of `user` and `assistant`', (value) => Array.isArray(value) && value.every(isRole))
const SHARE = primitiveForm('a number from 0 to 1', (value) => typeof value === 'number' && value >= 0 && value <= 1)
const TIME = primitiveForm('a date with a time', (value) => typeof value === 'string' && DATE_TIME.test(value))
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/
const THEME = primitiveForm('`light` or `dark`', (value) => value === 'light' || value === 'dark')
/** Arguments and structured results are objects. */
const OBJECT = primitiveForm('`object`', (value) => value === 'object')

function isRole(value: unknown): boolean {
  return value === 'user' || value === 'assistant'
}

/** Members of every item. */
const OF_ITEMS = { ...DESCRIBED, icons: list('icon'), _meta: one('other') } as const

const OF_RESOURCES = { ...OF_ITEMS, name: needed(TEXT), mimeType: TEXT, annotations: one('annotations') } as const

const PARTS = withoutNulls(
  partTable({
    // The schemas of a tool are documents of their own.
    tools: {
      ...OF_ITEMS,
      _meta: one('meta of a tool'),
      inputSchema: needed(primitiveForm('an object', isRecord)),
      outputSchema: primitiveForm('an object', (value) => value !== null),
      annotations: one('hints'),
      execution: one('execution'),
      securitySchemes: list('security scheme'),
      strict: FLAG,
    },
    'meta of a tool': { ui: one('interface') },
    interface: { visibility: TEXTS },
    hints: {
      title: TEXT,
      readOnlyHint: FLAG,
      destructiveHint: FLAG,
      idempotentHint: FLAG,
      openWorldHint: FLAG,
    },
    execution: { taskSupport: TEXT },
    'security scheme': { type: TEXT, scopes: TEXTS },
    icon: { src: needed(TEXT), mimeType: TEXT, sizes: TEXTS, theme: THEME },
    prompts: { ...OF_ITEMS, arguments: list('argument') },
    argument: { ...DESCRIBED, name: needed(TEXT), required: FLAG },
    resources: { ...OF_RESOURCES, size: NUMBER },
    resourceTemplates: OF_RESOURCES,
    annotations: { audience: ROLES, priority: SHARE, lastModified: TIME },
    session: {
      capabilities: one('other'),
      serverInfo: one('identity'),
      instructions: TEXT,
      protocolVersion: TEXT,
      supportedVersions: TEXTS,
      cacheScope: TEXT,
    },
    identity: { ...OF_ITEMS, name: needed(TEXT), version: needed(TEXT), websiteUrl: TEXT },
    other: {},
  }),
)

/** By pointer within the item or session. */
export function malformedMcpParts(
  located: Located,
  kind: 'tools' | 'prompts' | 'resources' | 'resourceTemplates' | 'session',
): ReadonlyMap<string, MalformedPart> {
  return malformedParts(PARTS, { located, kind, resolve: () => null })
}

function schemaParts(draft: string | null): PartTable {
  const schema = { ...keywordsOfDraft(draft), ...DESCRIBED, 'x-mcp-header': TEXT }
  const parts = { schema, 'tool schema': { ...KEYWORDS, ...schema, type: needed(OBJECT) } }
  return partTable(parts, /^#(?:\/(?:\$defs|definitions)\/[^/]+)?$/)
}

const ANY_SCHEMA_PARTS = schemaParts(null)
const SCHEMA_PARTS: ReadonlyMap<string, PartTable> = new Map(DRAFTS.map((draft) => [draft, schemaParts(draft)]))

/** What the schema of a tool describes: an object, or any value. */
export type ToolValue = 'object' | 'any'

/** By pointer within the schema of a tool. @param draft whose forms of keywords alone are taken; null: those of all */
export function malformedToolSchema(
  located: Located,
  { resolve }: Pick<SchemaSource, 'resolve'>,
  { draft = null, value }: { readonly draft?: string | null; readonly value: ToolValue },
): ReadonlyMap<string, MalformedPart> {
  const kind = value === 'object' ? 'tool schema' : 'schema'
  return malformedParts(SCHEMA_PARTS.get(draft ?? '') ?? ANY_SCHEMA_PARTS, { located, kind, resolve })
}
