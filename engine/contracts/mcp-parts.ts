/** The parts of an MCP manifest that are compared member by member; tools of agents are read as those of a manifest. */
import type { Located } from '../schema/located.ts'
import type { SchemaSource } from '../schema/source.ts'
import {
  FLAG,
  list,
  malformedParts,
  NUMBER,
  one,
  partTable,
  TEXT,
  TEXTS,
  type MalformedPart,
} from './malformed-parts.ts'

/** Texts that models read. */
const DESCRIBED = { title: TEXT, description: TEXT } as const

/** Members of every item. */
const OF_ITEMS = { ...DESCRIBED, icons: list('icon'), _meta: one('other') } as const

const PARTS = partTable(
  {
    // The schemas of a tool are documents of their own.
    tools: {
      ...OF_ITEMS,
      annotations: one('hints'),
      execution: one('execution'),
      securitySchemes: list('security scheme'),
      strict: FLAG,
    },
    hints: {
      title: TEXT,
      readOnlyHint: FLAG,
      destructiveHint: FLAG,
      idempotentHint: FLAG,
      openWorldHint: FLAG,
    },
    execution: { taskSupport: TEXT },
    'security scheme': { type: TEXT, scopes: TEXTS },
    icon: { src: TEXT },
    prompts: { ...OF_ITEMS, arguments: list('argument') },
    argument: { ...DESCRIBED, name: TEXT, required: FLAG },
    resources: { ...OF_ITEMS, name: TEXT, mimeType: TEXT, annotations: one('annotations') },
    resourceTemplates: { ...OF_ITEMS, name: TEXT, mimeType: TEXT, annotations: one('annotations') },
    annotations: { audience: TEXTS, priority: NUMBER },
    session: {
      capabilities: one('other'),
      serverInfo: one('identity'),
      instructions: TEXT,
      protocolVersion: TEXT,
      supportedVersions: TEXTS,
      cacheScope: TEXT,
    },
    identity: { ...OF_ITEMS, name: TEXT, version: TEXT },
    other: {},
    schema: DESCRIBED,
  },
  /^#(?:\/(?:\$defs|definitions)\/[^/]+)?$/,
)

/** By pointer within the item, session or schema. */
export function malformedMcpParts(
  located: Located,
  kind: 'tools' | 'prompts' | 'resources' | 'resourceTemplates' | 'session' | 'schema',
  { resolve }: Pick<SchemaSource, 'resolve'> = { resolve: () => null },
): ReadonlyMap<string, MalformedPart> {
  return malformedParts(PARTS, { located, kind, resolve })
}
