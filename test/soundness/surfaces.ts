/** The contracts that a schema can stand in: how each is written, and which change of what is admitted breaks its users. */
import type { ArtifactType } from '../../engine/internal.ts'
import type { Dialect, DialectName } from './dialects.ts'
import { isKeywords, mapped, without, type Keywords, type Schema } from './schema.ts'

/**
 * Who is at a surface. What a `sender` may send breaks when it narrows, what a `reader` gets when it widens; what is `shared`
 * has both.
 */
export type Audience = 'sender' | 'reader' | 'shared'

export interface Surface {
  readonly name: string
  readonly type: ArtifactType
  readonly dialects: readonly DialectName[]
  readonly audience: Audience
  readonly write: (root: Schema, dialect: Dialect) => object | boolean
  /** Schemas that the surface holds; absent: all. */
  readonly fits?: (root: Schema) => boolean
}

const JSON_DRAFTS = ['draft-04', 'draft-06', 'draft-07', '2019-09', '2020-12'] as const
const OPENAPI_3 = ['openapi-3.0', 'openapi-3.1'] as const
const INFO = { title: 't', version: '1.0.0' } as const
const DONE = { '200': { description: 'done' } } as const

/** References to definitions and to the root, as the document spells them. */
function redirected(schema: Schema, definitions: string, root: string): Schema {
  return mapped(schema, (one) => {
    if (!isKeywords(one) || typeof one.$ref !== 'string') return one
    return { ...one, $ref: one.$ref === '#' ? root : one.$ref.replace('#/$defs/', definitions) }
  })
}

interface Parts {
  readonly used: Schema
  readonly definitions: Keywords
}

/** The schema and its definitions apart. One that names itself is a definition too, so that it can be named. */
function partsOf(root: Schema, dialect: Dialect, folder: string): Parts {
  const written = dialect.write(redirected(root, `${folder}Of`, `${folder}Thing`))
  const own = isKeywords(written) ? without(written, '$defs') : written
  const definitions = isKeywords(written) && isKeywords(written.$defs) ? written.$defs : {}
  const named = Object.fromEntries(Object.entries(definitions).map(([name, one]) => [`Of${name}`, one]))
  const isNamed = JSON.stringify(written).includes(`${folder}Thing"`) || Object.keys(named).length % 2 === 1
  return isNamed
    ? { used: { $ref: `${folder}Thing` }, definitions: { ...named, Thing: own } }
    : { used: own, definitions: named }
}

/** One schema as a document of its own, in its dialect's own words. */
export function writtenAlone(root: Schema, dialect: Dialect): Schema {
  const written = dialect.write(redirected(root, `#/${dialect.definitions}/`, '#'))
  if (!isKeywords(written)) return written
  const { $defs, ...rest } = written
  return {
    ...(dialect.meta === null ? {} : { $schema: dialect.meta }),
    ...rest,
    ...($defs === undefined ? {} : { [dialect.definitions]: $defs }),
  }
}

function openApi(operation: (used: Schema) => object): Surface['write'] {
  return (root, dialect) => {
    const { used, definitions } = partsOf(root, dialect, '#/components/schemas/')
    const openapi = dialect.name === 'openapi-3.0' ? '3.0.3' : '3.1.0'
    return { openapi, info: INFO, paths: { '/x': { post: operation(used) } }, components: { schemas: definitions } }
  }
}

function swagger(operation: (used: Schema) => object): Surface['write'] {
  return (root, dialect) => {
    const { used, definitions } = partsOf(root, dialect, '#/definitions/')
    const media = { consumes: ['application/json'], produces: ['application/json'] }
    return { swagger: '2.0', info: INFO, paths: { '/x': { post: { ...media, ...operation(used) } } }, definitions }
  }
}

const content = (schema: Schema): object => ({ content: { 'application/json': { schema } } })

function asyncApi(action: 'send' | 'receive', major: 2 | 3): Surface['write'] {
  return (root, dialect) => {
    const { used, definitions } = partsOf(root, dialect, '#/components/schemas/')
    const message = { payload: used }
    if (major === 2) {
      const operation = action === 'send' ? 'subscribe' : 'publish'
      return {
        asyncapi: '2.6.0',
        info: INFO,
        channels: { out: { [operation]: { message } } },
        components: { schemas: definitions },
      }
    }
    return {
      asyncapi: '3.0.0',
      info: INFO,
      channels: { out: { address: 'out', messages: { note: message } } },
      operations: { act: { action, channel: { $ref: '#/channels/out' } } },
      components: { schemas: definitions },
    }
  }
}

/** A document of its own around the schema: what tools take and give are objects. */
function wrapped(root: Schema, dialect: Dialect): object {
  const inner: Schema = isKeywords(root) ? without(root, '$defs') : root
  const definitions = isKeywords(root) && isKeywords(root.$defs) ? { $defs: root.$defs } : {}
  return Object(
    writtenAlone({ type: 'object', properties: { value: inner }, required: ['value'], ...definitions }, dialect),
  )
}

/** The same with the root as a definition: ajv finds no root from within a definition unless the root has an identifier. */
export function rootNamed(root: Schema): Schema {
  if (!isKeywords(root) || !refersToRoot(root)) return root
  const { $defs, ...own } = Object(redirected(root, '#/$defs/', '#/$defs/Root'))
  return { $ref: '#/$defs/Root', $defs: { ...$defs, Root: own } }
}

function refersToRoot(root: Schema): boolean {
  return JSON.stringify(root).includes('"$ref":"#"')
}

function mcp(member: 'inputSchema' | 'outputSchema'): Surface['write'] {
  return (root, dialect) => {
    const none = { type: 'object', properties: {} }
    return { tools: [{ name: 'act', description: 'Acts.', inputSchema: none, [member]: wrapped(root, dialect) }] }
  }
}

export const SURFACES: readonly Surface[] = [
  {
    name: 'JSON Schema',
    type: 'json_schema',
    dialects: JSON_DRAFTS,
    audience: 'shared',
    write: writtenAlone,
    fits: hasKeyword,
  },
  {
    name: 'OpenAPI request body',
    type: 'openapi',
    dialects: OPENAPI_3,
    audience: 'sender',
    write: openApi((used) => ({ requestBody: { required: true, ...content(used) }, responses: DONE })),
  },
  {
    name: 'OpenAPI response body',
    type: 'openapi',
    dialects: OPENAPI_3,
    audience: 'reader',
    write: openApi((used) => ({ responses: { '200': { description: 'done', ...content(used) } } })),
  },
  {
    name: 'OpenAPI parameter',
    type: 'openapi',
    dialects: OPENAPI_3,
    audience: 'sender',
    write: openApi((used) => ({
      parameters: [{ in: 'query', name: 'q', required: true, ...content(used) }],
      responses: DONE,
    })),
  },
  {
    name: 'OpenAPI callback',
    type: 'openapi',
    dialects: OPENAPI_3,
    audience: 'reader',
    write: openApi((used) => ({
      responses: DONE,
      callbacks: {
        done: {
          '{$request.query.url}': { post: { requestBody: { required: true, ...content(used) }, responses: DONE } },
        },
      },
    })),
  },
  {
    name: 'OpenAPI response header',
    type: 'openapi',
    dialects: OPENAPI_3,
    audience: 'reader',
    write: openApi((used) => ({
      responses: { '200': { description: 'done', headers: { 'X-Note': { required: true, ...content(used) } } } },
    })),
  },
  {
    name: 'OpenAPI webhook',
    type: 'openapi',
    dialects: ['openapi-3.1'],
    audience: 'reader',
    write: (root, dialect) => {
      const { used, definitions } = partsOf(root, dialect, '#/components/schemas/')
      const post = { requestBody: { required: true, ...content(used) }, responses: DONE }
      return { openapi: '3.1.0', info: INFO, webhooks: { done: { post } }, components: { schemas: definitions } }
    },
  },
  {
    name: 'Swagger request body',
    type: 'openapi',
    dialects: ['swagger-2.0'],
    audience: 'sender',
    write: swagger((schema) => ({
      parameters: [{ in: 'body', name: 'body', required: true, schema }],
      responses: DONE,
    })),
  },
  {
    name: 'Swagger response body',
    type: 'openapi',
    dialects: ['swagger-2.0'],
    audience: 'reader',
    write: swagger((schema) => ({ responses: { '200': { description: 'done', schema } } })),
  },
  {
    name: 'AsyncAPI 2 received payload',
    type: 'asyncapi',
    dialects: ['draft-07'],
    audience: 'sender',
    write: asyncApi('receive', 2),
  },
  {
    name: 'AsyncAPI 3 received payload',
    type: 'asyncapi',
    dialects: ['draft-07'],
    audience: 'sender',
    write: asyncApi('receive', 3),
  },
  {
    name: 'AsyncAPI 3 sent payload',
    type: 'asyncapi',
    dialects: ['draft-07'],
    audience: 'reader',
    write: asyncApi('send', 3),
  },
  {
    name: 'MCP arguments',
    type: 'mcp_manifest',
    dialects: ['draft-07', '2020-12'],
    audience: 'sender',
    write: mcp('inputSchema'),
    fits: standsAlone,
  },
  {
    name: 'MCP results',
    type: 'mcp_manifest',
    dialects: ['draft-07', '2020-12'],
    audience: 'reader',
    write: mcp('outputSchema'),
    fits: standsAlone,
  },
  {
    name: 'agent tool',
    type: 'agent_tools',
    dialects: ['draft-07', '2020-12'],
    audience: 'sender',
    fits: standsAlone,
    write: (root, dialect) => [
      { type: 'function', function: { name: 'act', description: 'Acts.', parameters: wrapped(root, dialect) } },
    ],
  },
  {
    name: 'custom resource',
    type: 'k8s_crd',
    dialects: ['crd'],
    audience: 'shared',
    write: (root, dialect) => ({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: { type: 'object', properties: { spec: dialect.write(root) }, required: ['spec'] },
            },
          },
        ],
      },
    }),
  },
]

/** A document without any keyword is no contract. */
function hasKeyword(root: Schema): boolean {
  return isKeywords(root) && Object.keys(root).some((keyword) => keyword !== '$defs')
}

/** In a wrapper, a reference to the root would name the wrapper. */
function standsAlone(root: Schema): boolean {
  return !refersToRoot(root)
}

export function surfacesFor(dialect: Dialect): readonly Surface[] {
  return SURFACES.filter(({ dialects }) => dialects.includes(dialect.name))
}

/** The mark of members that are not sent to an audience, or by it. */
export function markOf(audience: Audience): 'readOnly' | 'writeOnly' | null {
  return audience === 'sender' ? 'readOnly' : audience === 'reader' ? 'writeOnly' : null
}

/**
 * What a contract that is no JSON Schema admits, in 2020-12. In one direction, members that are marked for the other one are not
 * spoken of. Up to OpenAPI 3.0, a reference hides what stands beside it.
 */
export function meaningIn(audience: Audience, root: Schema, dialect: Dialect): Schema {
  if (dialect.meta !== null) return root
  const mark = markOf(audience)
  return mapped(root, (one) => withoutMarked(mark, withoutHidden(one, dialect)))
}

function withoutHidden(schema: Schema, dialect: Dialect): Schema {
  if (!isKeywords(schema) || schema.$ref === undefined || dialect.has.has('reference siblings')) return schema
  return { $ref: schema.$ref, ...(schema.$defs === undefined ? {} : { $defs: schema.$defs }) }
}

function withoutMarked(mark: string | null, schema: Schema): Schema {
  if (mark === null || !isKeywords(schema) || !isKeywords(schema.properties)) return schema
  const absent = Object.entries(schema.properties).flatMap(([name, member]) =>
    isKeywords(member) && member[mark] === true ? [name] : [],
  )
  if (absent.length === 0) return schema
  const required = Array.isArray(schema.required)
    ? { required: schema.required.filter((name) => !absent.includes(String(name))) }
    : {}
  return { ...schema, properties: without(schema.properties, ...absent), ...required }
}
