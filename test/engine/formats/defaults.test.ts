/**
 * What a format takes for granted, written out and left out: no finding, in every format, in both directions.
 * It is one file past 400 lines, so that a format without a table can be seen.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ArtifactType } from '../../../engine/model/change-set.ts'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Json = Readonly<Record<string, unknown>>

/** A contract that is silent, and the same with the default. */
type Row = readonly [what: string, silent: string, stated: string]

function findings(type: ArtifactType, before: string, after: string): readonly string[] {
  const result = compare({ id: 'contract', type, before, after }, {}, sha256Hex)
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  return result.value.groups.map(({ level, rule, location }) => `${level} ${rule} ${location}`)
}

function checkRows(name: string, type: ArtifactType, rows: readonly Row[]): void {
  suite(name, () => {
    for (const [what, silent, stated] of rows) {
      test(what, () => {
        assert.notEqual(silent, stated)
        assert.deepEqual(findings(type, silent, stated), [])
        assert.deepEqual(findings(type, stated, silent), [])
      })
    }
  })
}

const TEXT = { type: 'string' }

/** A schema, and the members that say what it says without them. */
const SCHEMAS: readonly (readonly [schema: Json, stated: Json])[] = [
  [{ type: 'object' }, { additionalProperties: true }],
  [{ type: 'object' }, { additionalProperties: {} }],
  [{ type: 'object' }, { unevaluatedProperties: true }],
  [{ type: 'object' }, { required: [] }],
  [{ type: 'object' }, { properties: {} }],
  [{ type: 'object' }, { patternProperties: {} }],
  [{ type: 'object' }, { minProperties: 0 }],
  [{ type: 'object' }, { propertyNames: true }],
  [{ type: 'object' }, { propertyNames: {} }],
  [{ type: 'object' }, { dependentRequired: {} }],
  [{ type: 'object' }, { dependentRequired: { a: [] } }],
  [{ type: 'object' }, { dependentSchemas: {} }],
  [{ type: 'object' }, { dependentSchemas: { a: true } }],
  [{ type: 'object' }, { dependencies: {} }],
  [{ type: 'array' }, { items: true }],
  [{ type: 'array' }, { items: {} }],
  [{ type: 'array' }, { prefixItems: [] }],
  [{ type: 'array' }, { unevaluatedItems: true }],
  [{ type: 'array' }, { minItems: 0 }],
  [{ type: 'array' }, { uniqueItems: false }],
  [{ type: 'array', items: TEXT }, { additionalItems: false }],
  [{ type: 'array', items: [TEXT] }, { additionalItems: true }],
  [{ type: 'array', contains: TEXT }, { minContains: 1 }],
  [{ type: 'array' }, { minContains: 2 }],
  [{ type: 'array' }, { maxContains: 2 }],
  [TEXT, { minLength: 0 }],
  [TEXT, { deprecated: false }],
  [TEXT, { readOnly: false }],
  [TEXT, { writeOnly: false }],
  [TEXT, { 'x-nullable': false }],
  [TEXT, { allOf: [{}] }],
  [TEXT, { not: false }],
  [TEXT, { if: { minLength: 3 } }],
  [TEXT, { if: { minLength: 3 }, then: true, else: {} }],
  [TEXT, { then: { minLength: 3 } }],
  [TEXT, { else: { minLength: 3 } }],
  [TEXT, { type: ['string'] }],
  [TEXT, { contentSchema: true }],
  [{ type: 'number' }, { type: ['integer', 'number'] }],
  [{}, { type: ['array', 'boolean', 'null', 'number', 'object', 'string'] }],
  [{}, { type: ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'] }],
]

/** Of OpenAPI 3.0 and Swagger 2.0 alone. */
const OLD_SCHEMAS: readonly (readonly [schema: Json, stated: Json])[] = [
  [TEXT, { nullable: false }],
  [{ type: 'number', maximum: 3 }, { exclusiveMaximum: false }],
  [{ type: 'number', minimum: 3 }, { exclusiveMinimum: false }],
  [{ type: 'number' }, { exclusiveMinimum: false, exclusiveMaximum: false }],
]

const answer = (content: Json): Json => ({ 200: { description: 'done', content } })

const openApi =
  (version: string) =>
  (schema: Json): Json => ({
    openapi: version,
    info: { title: 't', version: '1' },
    paths: {
      '/a': {
        post: {
          parameters: [{ name: 'q', in: 'query', schema }],
          requestBody: { content: { 'application/json': { schema } } },
          responses: answer({ 'application/json': { schema: { type: 'object', properties: { a: schema } } } }),
        },
      },
    },
  })

const resource = (schema: Json, version: Json = {}, spec: Json = {}): Json => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', ...schema } },
        ...version,
      },
    ],
    ...spec,
  },
})

const held = (schema: Json): Json => ({ type: 'object', properties: { a: schema } })

/** Where schemas stand, by format. */
const SURFACES: readonly (readonly [ArtifactType, (schema: Json) => Json])[] = [
  [
    'json_schema',
    (schema) => ({ $schema: 'https://json-schema.org/draft/2020-12/schema', $defs: { d: schema }, ...held(schema) }),
  ],
  ['openapi', openApi('3.1.0')],
  ['mcp_manifest', (schema) => ({ tools: [{ name: 'x', inputSchema: held(schema), outputSchema: held(schema) }] })],
  ['agent_tools', (schema) => ({ tools: [{ type: 'function', function: { name: 'x', parameters: held(schema) } }] })],
  ['k8s_crd', (schema) => resource({ properties: { spec: schema } })],
  ['asyncapi', (schema) => application({ message: { payload: schema, headers: held(schema) } })],
]

interface Parts {
  readonly operation?: Json
  readonly channel?: Json
  readonly message?: Json
  readonly server?: Json
  readonly root?: Json
}

/** An application that sends and receives one message. */
function application({ operation, channel, message, server, root }: Parts): Json {
  return {
    asyncapi: '3.0.0',
    info: { title: 't', version: '1' },
    servers: { s: { host: 'broker.example', protocol: 'kafka', ...server } },
    channels: { c: { address: 'c', messages: { m: { payload: TEXT, ...message } }, ...channel } },
    operations: {
      hear: { action: 'receive', channel: { $ref: '#/channels/c' }, ...operation },
      tell: { action: 'send', channel: { $ref: '#/channels/c' }, ...operation },
    },
    ...root,
  }
}

/** An API server keeps the members of a map, removes those that an object does not name, and takes no list of types. */
const isDefaultIn = (type: ArtifactType, stated: Json): boolean =>
  type !== 'k8s_crd' || (stated.additionalProperties === undefined && !Array.isArray(stated.type))

for (const [type, wrap] of SURFACES) {
  checkRows(
    `a default of JSON Schema in ${type}`,
    type,
    SCHEMAS.filter(([, stated]) => isDefaultIn(type, stated)).map(([schema, stated]) => {
      const sides = [schema, { ...schema, ...stated }].map((one) => JSON.stringify(wrap(one)))
      return [`${JSON.stringify(stated)} beside ${JSON.stringify(schema)}`, sides[0] ?? '', sides[1] ?? '']
    }),
  )
}

checkRows(
  'a default of schemas of OpenAPI 3.0',
  'openapi',
  OLD_SCHEMAS.map(([schema, stated]) => {
    const sides = [schema, { ...schema, ...stated }].map((one) => JSON.stringify(openApi('3.0.3')(one)))
    return [`${JSON.stringify(stated)} beside ${JSON.stringify(schema)}`, sides[0] ?? '', sides[1] ?? '']
  }),
)

const texts = (rows: readonly (readonly [string, Json, Json])[]): readonly Row[] =>
  rows.map(([what, silent, stated]) => [what, JSON.stringify(silent), JSON.stringify(stated)])

const quiet = application({})
const channelMessage = [{ $ref: '#/channels/c/messages/m' }]

checkRows(
  'a default of AsyncAPI',
  'asyncapi',
  texts([
    ['no security of an operation', quiet, application({ operation: { security: [] } })],
    ['no traits, bindings and tags', quiet, application({ operation: { traits: [], bindings: {}, tags: [] } })],
    ['every message of the channel', quiet, application({ operation: { messages: channelMessage } })],
    ['every server', quiet, application({ channel: { servers: [{ $ref: '#/servers/s' }] } })],
    ['an empty list of servers', quiet, application({ channel: { servers: [] } })],
    ['no parameters', quiet, application({ channel: { parameters: {}, bindings: {} } })],
    ['any headers', quiet, application({ message: { headers: {} } })],
    ['no examples', quiet, application({ message: { traits: [], bindings: {}, examples: [] } })],
    ['no path', quiet, application({ server: { pathname: '' } })],
    ['no variables', quiet, application({ server: { variables: {}, security: [], bindings: {} } })],
    [
      'the content type of all messages',
      application({ root: { defaultContentType: 'application/json' } }),
      application({
        root: { defaultContentType: 'application/json' },
        message: { contentType: 'application/json' },
      }),
    ],
    ...['', '+json', '+yaml'].map((suffix): readonly [string, Json, Json] => [
      `the schema language${suffix}`,
      quiet,
      application({
        message: { payload: { schemaFormat: `application/vnd.aai.asyncapi${suffix};version=3.0.0`, schema: TEXT } },
      }),
    ]),
  ]),
)

const session = (tool: Json, more: Json = {}): Json => ({
  protocolVersion: '2025-11-25',
  serverInfo: { name: 'notes', version: '1' },
  capabilities: { tools: {}, resources: {}, prompts: {} },
  tools: [{ name: 'x', inputSchema: { type: 'object' }, ...tool }],
  ...more,
})
const prompts = (prompt: Json): Json => session({}, { prompts: [{ name: 'ask', ...prompt }] })

checkRows(
  'a default of MCP',
  'mcp_manifest',
  texts([
    ['readOnlyHint', session({}), session({ annotations: { readOnlyHint: false } })],
    ['destructiveHint', session({}), session({ annotations: { destructiveHint: true } })],
    ['idempotentHint', session({}), session({ annotations: { idempotentHint: false } })],
    ['openWorldHint', session({}), session({ annotations: { openWorldHint: true } })],
    ['no annotations', session({}), session({ annotations: {} })],
    ['no metadata', session({}), session({ _meta: {} })],
    ['no icons', session({}), session({ icons: [] })],
    ['a plain call', session({}), session({ execution: { taskSupport: 'forbidden' } })],
    ['no word on execution', session({}), session({ execution: {} })],
    [
      'capabilities that are off',
      session({}),
      session(
        {},
        {
          capabilities: {
            tools: { listChanged: false },
            resources: { subscribe: false, listChanged: false },
            prompts: { listChanged: false },
          },
        },
      ),
    ],
    [
      'an argument that may be left out',
      prompts({ arguments: [{ name: 'q' }] }),
      prompts({ arguments: [{ name: 'q', required: false }] }),
    ],
    ['no arguments', prompts({}), prompts({ arguments: [] })],
  ]),
)

const agentTool = (more: Json): Json => ({ tools: [{ type: 'function', function: { name: 'x', ...more } }] })

checkRows(
  'a default of agent tools',
  'agent_tools',
  texts([
    ['strict', agentTool({ parameters: held(TEXT) }), agentTool({ parameters: held(TEXT), strict: false })],
    ['no parameters', agentTool({}), agentTool({ parameters: { type: 'object', properties: {} } })],
  ]),
)

const rule = (more: Json): Json => resource({ 'x-kubernetes-validations': [{ rule: 'self.a > 1', ...more }] })
const webhook = (service: Json): Json =>
  resource(
    {},
    {},
    {
      conversion: {
        strategy: 'Webhook',
        webhook: {
          conversionReviewVersions: ['v1'],
          clientConfig: { service: { name: 'a', namespace: 'b', ...service } },
        },
      },
    },
  )
const column = (more: Json): Json =>
  resource({}, { additionalPrinterColumns: [{ name: 'a', type: 'string', jsonPath: '.a', ...more }] })
const listed = { type: 'array', items: TEXT }
const part = (schema: Json): Json => resource({ properties: { a: schema } })

checkRows(
  'a default of custom resources',
  'k8s_crd',
  texts([
    ['no conversion', resource({}), resource({}, {}, { conversion: { strategy: 'None' } })],
    ['pruning', resource({}), resource({}, {}, { preserveUnknownFields: false })],
    [
      'names that follow from the kind',
      resource({}),
      resource({}, {}, { names: { plural: 'things', kind: 'Thing', singular: 'thing', listKind: 'ThingList' } }),
    ],
    [
      'no short names and categories',
      resource({}),
      resource({}, {}, { names: { plural: 'things', kind: 'Thing', shortNames: [], categories: [] } }),
    ],
    ['deprecated', resource({}), resource({}, { deprecated: false })],
    ['no columns and fields', resource({}), resource({}, { additionalPrinterColumns: [], selectableFields: [] })],
    ['no subresources', resource({}), resource({}, { subresources: {} })],
    ['a list that is replaced as a whole', part(listed), part({ ...listed, 'x-kubernetes-list-type': 'atomic' })],
    ['an object of members', part({ type: 'object' }), part({ type: 'object', 'x-kubernetes-map-type': 'granular' })],
    [
      'flags that are off',
      part({ type: 'object' }),
      part({
        type: 'object',
        'x-kubernetes-embedded-resource': false,
        'x-kubernetes-int-or-string': false,
        'x-kubernetes-preserve-unknown-fields': false,
      }),
    ],
    ['no rules', part({ type: 'object' }), part({ type: 'object', 'x-kubernetes-validations': [] })],
    ['the reason of a rule', rule({}), rule({ reason: 'FieldValueInvalid' })],
    ['the old value of a rule', rule({}), rule({ optionalOldSelf: false })],
    ['the priority of a column', column({}), column({ priority: 0 })],
    ['the port of a webhook', webhook({}), webhook({ port: 443 })],
  ]),
)

const QUERY = 'type Query { a(x: Int): Int }'

checkRows('a default of GraphQL', 'graphql', [
  ['the root types', QUERY, `schema { query: Query } ${QUERY}`],
  [
    'the reason of a deprecation',
    'type Query { a: Int @deprecated }',
    'type Query { a: Int @deprecated(reason: "No longer supported") }',
  ],
  ['a built-in scalar', QUERY, `scalar Int ${QUERY}`],
  ['a built-in directive', QUERY, `directive @oneOf on INPUT_OBJECT ${QUERY}`],
  [
    'another built-in directive',
    QUERY,
    `directive @deprecated(reason: String = "No longer supported") on FIELD_DEFINITION | ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION | ENUM_VALUE ${QUERY}`,
  ],
  ['an extension', 'type Query { a: Int b: Int }', 'type Query { a: Int } extend type Query { b: Int }'],
])

const proto = (body: string, head = 'syntax = "proto3";'): string => `${head}\npackage p;\nmessage M { ${body} }\n`
const PROTO_2 = 'syntax = "proto2";'
const service = (body: string): string =>
  `syntax = "proto3"; package p; message M {} service S { rpc A(M) returns (M) ${body} }`
const edition = (options: string, field = ''): string =>
  `edition = "2023"; package p; ${options} message M { repeated int32 a = 1 ${field}; string s = 2; M m = 3; } enum E { A = 0; }`

const field = (declared: string, option: string, head?: string): Row => [
  `${option} of ${declared}${head === undefined ? '' : `, ${head}`}`,
  proto(`${declared};`, head),
  proto(`${declared} [${option}];`, head),
]
const option = (of: string, stated: string): Row => [`${stated} of ${of}`, proto('int32 a = 1;'), proto(stated)]

const FEATURES = [
  ['features.enum_type', 'OPEN'],
  ['features.repeated_field_encoding', 'PACKED'],
  ['features.utf8_validation', 'VERIFY'],
  ['features.message_encoding', 'LENGTH_PREFIXED'],
  ['features.json_format', 'ALLOW'],
  ['features.field_presence', 'EXPLICIT'],
] as const

checkRows('a default of protobuf', 'protobuf', [
  field('repeated int32 a = 1', 'packed = true'),
  field('repeated int32 a = 1', 'packed = false', PROTO_2),
  field('optional int32 a = 1', 'default = 0', PROTO_2),
  field('optional string a = 1', 'default = ""', PROTO_2),
  field('optional bool a = 1', 'default = false', PROTO_2),
  field('int32 foo_bar = 1', 'json_name = "fooBar"'),
  field('string a = 1', 'ctype = STRING'),
  field('int64 a = 1', 'jstype = JS_NORMAL'),
  ...['deprecated', 'lazy', 'unverified_lazy', 'weak', 'debug_redact'].map((flag) =>
    field('M a = 1', `${flag} = false`),
  ),
  ...['deprecated', 'message_set_wire_format', 'no_standard_descriptor_accessor'].map((flag) =>
    option('a message', `option ${flag} = false; int32 a = 1;`),
  ),
  [
    'options of a file',
    proto('int32 a = 1;'),
    proto(
      'int32 a = 1;',
      'syntax = "proto3"; option java_multiple_files = false; option optimize_for = SPEED; option cc_enable_arenas = true; option deprecated = false;',
    ),
  ],
  [
    'aliases of an enum',
    proto('enum E { A = 0; }'),
    proto('enum E { option allow_alias = false; option deprecated = false; A = 0; }'),
  ],
  [
    'options of an rpc',
    service(';'),
    service('{ option idempotency_level = IDEMPOTENCY_UNKNOWN; option deprecated = false; }'),
  ],
  [
    'the syntax',
    'package p; message M { optional int32 a = 1; }',
    `${PROTO_2} package p; message M { optional int32 a = 1; }`,
  ],
  ...FEATURES.map(([name, value]): Row => [name, edition(''), edition(`option ${name} = ${value};`)]),
  ['a feature of a field', edition(''), edition('', '[features.repeated_field_encoding = PACKED]')],
])
