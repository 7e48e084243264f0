/**
 * The contracts that can contain a schema: how each is written, and which change of admitted values breaks its users. One file,
 * since most of it is the table of surfaces.
 */
import type { ArtifactType } from '../../engine/internal.ts'
import { redirectedMapping } from './discriminators.ts'
import { dialectOf, type Dialect, type DialectName } from './dialects.ts'
import { anchored, isAlternative, withDiscriminator } from './annotated.ts'
import { FORM_TYPES, type FormKind, type TextKind } from './forms.ts'
import type { Audience } from './meaning.ts'
import {
  entriesOf,
  inPlaceOf,
  isKeywords,
  mapped,
  namesIn,
  placesOf,
  without,
  type Keywords,
  type Schema,
} from './schema.ts'

export interface Surface {
  readonly name: string
  readonly type: ArtifactType
  readonly dialects: readonly DialectName[]
  readonly audience: Audience
  readonly write: (root: Schema, dialect: Dialect) => object | boolean
  /** How the second of a pair is written, where it is in another version of the language. */
  readonly writeAfter?: Surface['write']
  /** A rule that reports the other version of the language itself, whatever the schemas are. */
  readonly besides?: string
  /** Says more than the schema does: what it says changes where the schema is written otherwise. */
  readonly isAnnotated?: true
  /** What is sent is text of this kind, and a parser reads it by the schema. */
  readonly form?: TextKind
  /** Schemas that the surface holds; absent: all. */
  readonly fits?: (root: Schema) => boolean
  /** A call shows the positions of its members only: two schemas with other names have other values in one place. */
  readonly isByPosition?: true
}

/** Whether the surface holds both schemas, and writes a value of either in the same way. */
export function fitsBoth({ fits = () => true, isByPosition }: Surface, before: Schema, after: Schema): boolean {
  if (!fits(before) || !fits(after)) return false
  return isByPosition !== true || memberNames(before) === memberNames(after)
}

function memberNames(root: Schema): string {
  return isKeywords(root) ? Object.keys(Object(root.properties)).join() : ''
}

const JSON_DRAFTS = ['draft-04', 'draft-06', 'draft-07', '2019-09', '2020-12'] as const
const OPENAPI_3 = ['openapi-3.0', 'openapi-3.1'] as const
const INFO = { title: 't', version: '1.0.0' } as const
const DONE = { '200': { description: 'done' } } as const

/** References to definitions and to the root, as the document spells them. */
function redirected(schema: Schema, definitions: string, root: string): Schema {
  return mapped(schema, (one) => {
    if (!isKeywords(one)) return one
    if (typeof one.$ref !== 'string') return redirectedMapping(one, definitions)
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

const content = (schema: Schema, mediaType = 'application/json'): object => ({ content: { [mediaType]: { schema } } })

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

/** The same with a discriminator wherever alternatives are named: it is a hint to readers, and no condition on values. */
function discriminated(write: Surface['write']): Surface['write'] {
  return (root, dialect) => write(mapped(root, withDiscriminator), dialect)
}

const PET = '#/components/schemas/Pet'

/** The schema as a member of a subtype, which only a discriminator leads to. */
function ofSubtype(operation: (used: Schema) => object): Surface['write'] {
  return (root, dialect) => {
    const { used, definitions } = partsOf(root, dialect, '#/components/schemas/')
    const kind = { type: 'object', required: ['kind'], properties: { kind: { type: 'string' } } }
    const own = { type: 'object', properties: { value: used }, required: ['value'] }
    const schemas = {
      ...definitions,
      Pet: { ...kind, discriminator: { propertyName: 'kind' } },
      Cat: { allOf: [{ $ref: PET }, own] },
    }
    const openapi = dialect.name === 'openapi-3.0' ? '3.0.3' : '3.1.0'
    return { openapi, info: INFO, paths: { '/x': { post: operation({ $ref: PET }) } }, components: { schemas } }
  }
}

const requestBody = openApi((used) => ({ requestBody: { required: true, ...content(used) }, responses: DONE }))
const responseBody = openApi((used) => ({ responses: { '200': { description: 'done', ...content(used) } } }))
const swaggerRequest = swagger((schema) => ({
  parameters: [{ in: 'body', name: 'body', required: true, schema }],
  responses: DONE,
}))
const swaggerResponse = swagger((schema) => ({ responses: { '200': { description: 'done', schema } } }))

/** A body is required where one of its fields is. */
function isFormRequired(root: Schema): boolean {
  // What only holds beside another field requires nothing of an empty form.
  const always = isKeywords(root) ? { ...root, dependentSchemas: {} } : root
  return inPlaceOf(always, always).some((one) => namesIn(one.required).length > 0)
}

function formBody(kind: FormKind): Surface['write'] {
  return (root, dialect) =>
    openApi((used) => ({
      requestBody: { required: isFormRequired(root), ...content(used, FORM_TYPES[kind]) },
      responses: DONE,
    }))(root, dialect)
}

interface Field {
  readonly name: string
  readonly required: boolean
  readonly schema: unknown
}

function fieldsOf(root: Schema, written: Schema): readonly Field[] {
  const required = isKeywords(root) ? namesIn(root.required) : []
  const fields = isKeywords(written) ? entriesOf(written.properties) : []
  return fields.map(([name, schema]) => ({ name, required: required.includes(name), schema }))
}

type Place = 'path' | 'query' | 'header' | 'cookie'
const PLACES: readonly Place[] = ['path', 'query', 'header', 'cookie']

function pathOf(place: string, fields: readonly Field[]): string {
  return place === 'path' ? `/x${fields.map(({ name }) => `/{${name}}`).join('')}` : '/x'
}

/** Each field as a parameter of its own (OpenAPI 2.0, Parameter Object). */
function swaggerFields(place: Place | 'formData', consumes?: string): Surface['write'] {
  return (root, dialect) => {
    const fields = fieldsOf(root, dialect.write(root))
    const parameters = fields.map(({ schema, ...field }) => ({
      in: place,
      ...field,
      ...Object(schema),
      ...(Object(schema).type === 'array' && (place === 'formData' || place === 'query')
        ? { collectionFormat: 'multi' }
        : {}),
    }))
    const post = { ...(consumes !== undefined && { consumes: [consumes] }), parameters, responses: DONE }
    return { swagger: '2.0', info: INFO, paths: { [pathOf(place, fields)]: { post } } }
  }
}

const swaggerForm = (kind: FormKind): Surface['write'] => swaggerFields('formData', FORM_TYPES[kind])

/** Each field as a parameter, or as a header field of the response. */
function openApiFields(place: Place | 'response'): Surface['write'] {
  return (root, dialect) => {
    const folder = '#/components/schemas/'
    const written = dialect.write(redirected(root, `${folder}Of`, `${folder}Thing`))
    const schemas = Object.fromEntries(
      entriesOf(Object(written).$defs).map(([name, one]) => [`Of${name}`, one] as const),
    )
    const fields = fieldsOf(root, written)
    const headers = Object.fromEntries(fields.map(({ name, ...header }) => [name, header]))
    const post =
      place === 'response'
        ? { responses: { '200': { description: 'done', headers } } }
        : { parameters: fields.map((field) => ({ in: place, ...field })), responses: DONE }
    const openapi = dialect.name === 'openapi-3.0' ? '3.0.3' : '3.1.0'
    return { openapi, info: INFO, paths: { [pathOf(place, fields)]: { post } }, components: { schemas } }
  }
}

type Version = 'swagger-2.0' | 'openapi-3.0' | 'openapi-3.1'

const REQUEST: Readonly<Record<Version, Surface['write']>> = {
  'swagger-2.0': swaggerRequest,
  'openapi-3.0': requestBody,
  'openapi-3.1': requestBody,
}
const RESPONSE: Readonly<Record<Version, Surface['write']>> = {
  'swagger-2.0': swaggerResponse,
  'openapi-3.0': responseBody,
  'openapi-3.1': responseBody,
}
const FORM: Readonly<Record<FormKind, Readonly<Record<Version, Surface['write']>>>> = {
  urlencoded: {
    'swagger-2.0': swaggerForm('urlencoded'),
    'openapi-3.0': formBody('urlencoded'),
    'openapi-3.1': formBody('urlencoded'),
  },
  multipart: {
    'swagger-2.0': swaggerForm('multipart'),
    'openapi-3.0': formBody('multipart'),
    'openapi-3.1': formBody('multipart'),
  },
}
const FORM_KINDS = ['urlencoded', 'multipart'] as const

/** Versions from the first to the last: what a later one has besides, an earlier one has no words for. */
const VERSIONS: readonly Version[] = ['swagger-2.0', 'openapi-3.0', 'openapi-3.1']

/** Every change of version, with the earlier of the two, whose schemas both have. */
const VERSION_CHANGES = VERSIONS.flatMap((from, index) =>
  VERSIONS.flatMap((to, other) => {
    const earlier = VERSIONS[Math.min(index, other)]
    return from === to || earlier === undefined ? [] : [{ from, to, earlier }]
  }),
)

/** The same of the drafts: how a draft names itself is a finding of its own. */
const DRAFT_CHANGES = (['draft-04', 'draft-07', '2020-12'] as const).flatMap((from, index, all) =>
  all.flatMap((to, other) => {
    const earlier = all[Math.min(index, other)]
    return from === to || earlier === undefined ? [] : [{ from, to, earlier }]
  }),
)

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
    name: 'JSON Schema by anchors',
    type: 'json_schema',
    dialects: ['2019-09', '2020-12'],
    audience: 'shared',
    write: (root, dialect) => anchored(writtenAlone(root, dialect), dialect.definitions, '$anchor', '$ref'),
    fits: isNamed,
  },
  {
    name: 'JSON Schema by dynamic anchors',
    type: 'json_schema',
    dialects: ['2020-12'],
    audience: 'shared',
    write: (root, dialect) =>
      anchored(writtenAlone(root, dialect), dialect.definitions, '$dynamicAnchor', '$dynamicRef'),
    fits: isNamed,
  },
  ...DRAFT_CHANGES.map(({ from, to, earlier }): Surface => ({
    name: `JSON Schema from ${from} to ${to}`,
    type: 'json_schema',
    dialects: [earlier],
    audience: 'shared',
    write: (root) => writtenAlone(root, dialectOf(from)),
    writeAfter: (root) => writtenAlone(root, dialectOf(to)),
    besides: 'schema-draft-changed',
    fits: isOfEveryVersion,
  })),
  {
    name: 'OpenAPI request body',
    type: 'openapi',
    dialects: OPENAPI_3,
    audience: 'sender',
    write: requestBody,
  },
  {
    name: 'OpenAPI response body',
    type: 'openapi',
    dialects: OPENAPI_3,
    audience: 'reader',
    write: responseBody,
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
    name: 'OpenAPI request body with discriminators',
    type: 'openapi',
    dialects: OPENAPI_3,
    audience: 'sender',
    write: discriminated(requestBody),
    isAnnotated: true,
    fits: isAlternative,
  },
  {
    name: 'OpenAPI response body with discriminators',
    type: 'openapi',
    dialects: OPENAPI_3,
    audience: 'reader',
    write: discriminated(responseBody),
    isAnnotated: true,
    fits: isAlternative,
  },
  {
    name: 'OpenAPI request body of a subtype',
    type: 'openapi',
    dialects: OPENAPI_3,
    audience: 'sender',
    write: ofSubtype((used) => ({ requestBody: { required: true, ...content(used) }, responses: DONE })),
  },
  {
    name: 'OpenAPI response body of a subtype',
    type: 'openapi',
    dialects: OPENAPI_3,
    audience: 'reader',
    write: ofSubtype((used) => ({ responses: { '200': { description: 'done', ...content(used) } } })),
  },
  ...VERSION_CHANGES.flatMap(({ from, to, earlier }): Surface[] => {
    const pair = (name: string, audience: Audience, write: Readonly<Record<Version, Surface['write']>>): Surface => ({
      name: `OpenAPI ${name} from ${from} to ${to}`,
      type: 'openapi',
      dialects: [earlier],
      audience,
      write: (root) => write[from](root, dialectOf(from)),
      writeAfter: (root) => write[to](root, dialectOf(to)),
      fits: isOfEveryVersion,
    })
    const isOfParameters = from === 'swagger-2.0' || to === 'swagger-2.0'
    return [
      pair('request body', 'sender', REQUEST),
      pair('response body', 'reader', RESPONSE),
      ...FORM_KINDS.map((form) => ({
        ...pair(`${form} form`, 'sender', FORM[form]),
        form,
        fits: isOfParameters ? isListOfFields : isFormOfEveryVersion,
      })),
    ]
  }),
  ...FORM_KINDS.flatMap((form): Surface[] => [
    {
      name: `OpenAPI ${form} form`,
      type: 'openapi',
      dialects: OPENAPI_3,
      audience: 'sender',
      write: formBody(form),
      form,
      fits: isObject,
    },
    {
      name: `OpenAPI ${form} form of a callback`,
      type: 'openapi',
      dialects: OPENAPI_3,
      audience: 'reader',
      write: openApi((used) => {
        const post = { requestBody: { required: true, ...content(used, FORM_TYPES[form]) }, responses: DONE }
        return { responses: DONE, callbacks: { done: { '{$request.query.url}': { post } } } }
      }),
      form,
      fits: isObject,
    },
    {
      name: `Swagger ${form} form`,
      type: 'openapi',
      dialects: ['swagger-2.0'],
      audience: 'sender',
      write: swaggerForm(form),
      form,
      fits: isListOfFields,
    },
  ]),
  ...PLACES.map((place): Surface => ({
    name: `OpenAPI ${place} parameters`,
    type: 'openapi',
    dialects: OPENAPI_3,
    audience: 'sender',
    write: openApiFields(place),
    form: place === 'query' ? 'urlencoded' : 'plain',
    fits: place === 'path' ? isAllRequired : isOnlyMembers,
    ...(place === 'path' && { isByPosition: true }),
  })),
  {
    name: 'OpenAPI response headers',
    type: 'openapi',
    dialects: OPENAPI_3,
    audience: 'reader',
    write: openApiFields('response'),
    form: 'plain',
    fits: isOnlyMembers,
  },
  // Paths with fields are drawn too seldom in Swagger 2.0.
  ...(['query', 'header'] as const).map((place): Surface => ({
    name: `Swagger ${place} parameters`,
    type: 'openapi',
    dialects: ['swagger-2.0'],
    audience: 'sender',
    write: swaggerFields(place),
    form: place === 'query' ? 'urlencoded' : 'plain',
    fits: isListOfFields,
  })),
  {
    name: 'Swagger request body',
    type: 'openapi',
    dialects: ['swagger-2.0'],
    audience: 'sender',
    write: swaggerRequest,
  },
  {
    name: 'Swagger response body',
    type: 'openapi',
    dialects: ['swagger-2.0'],
    audience: 'reader',
    write: swaggerResponse,
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

/** Anchors name definitions; the root has none. */
function isNamed(root: Schema): boolean {
  return isKeywords(root) && isKeywords(root.$defs) && !refersToRoot(root) && hasKeyword(root)
}

/** Keywords next to a reference count in later versions only. */
function isOfEveryVersion(root: Schema): boolean {
  return hasKeyword(root) && ![...placesOf(root)].some(([, one]) => hasSiblings(one))
}

function hasSiblings(one: Schema): boolean {
  return isKeywords(one) && one.$ref !== undefined && Object.keys(one).some((key) => key !== '$ref' && key !== '$defs')
}

function isObject(root: Schema): boolean {
  return isKeywords(root) && root.type === 'object'
}

function isFormOfEveryVersion(root: Schema): boolean {
  return isObject(root) && isOfEveryVersion(root)
}

const FIELD_KEYWORDS: ReadonlySet<string> = new Set(
  [
    ['type', 'enum', 'const', 'items'],
    ['minLength', 'maxLength', 'pattern', 'format'],
    ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
    ['minItems', 'maxItems', 'uniqueItems'],
  ].flat(),
)

/** An object that is no more than its members, which are all sent. */
function isOnlyMembers(root: Schema): boolean {
  if (!isKeywords(root) || root.type !== 'object' || refersToRoot(root)) return false
  const fields = entriesOf(root.properties)
  return (
    !fields.some(([, one]) => isKeywords(one) && (one.readOnly === true || one.writeOnly === true)) &&
    Object.keys(root).every((keyword) => ['type', 'properties', 'required', '$defs'].includes(keyword)) &&
    namesIn(root.required).every((name) => fields.some(([key]) => key === name))
  )
}

/** Every parameter of a path is required. */
function isAllRequired(root: Schema): boolean {
  const required = isKeywords(root) ? namesIn(root.required) : []
  return isOnlyMembers(root) && entriesOf(Object(root).properties).every(([name]) => required.includes(name))
}

/** An object that is no more than its members, each of which a parameter can describe. */
function isListOfFields(root: Schema): boolean {
  return isOnlyMembers(root) && entriesOf(Object(root).properties).every(([, one]) => isField(one))
}

function isField(schema: unknown): boolean {
  if (!isKeywords(schema) || typeof schema.type !== 'string' || schema.type === 'object') return false
  if (!Object.keys(schema).every((keyword) => FIELD_KEYWORDS.has(keyword))) return false
  // A parameter that is a list says of what; one within another has no form.
  return schema.type !== 'array' || (isField(schema.items) && Object(schema.items).type !== 'array')
}

/** In a wrapper, a reference to the root would name the wrapper. */
function standsAlone(root: Schema): boolean {
  return !refersToRoot(root)
}

export function surfacesFor(dialect: Dialect): readonly Surface[] {
  return SURFACES.filter(({ dialects }) => dialects.includes(dialect.name))
}
