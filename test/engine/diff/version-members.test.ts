/**
 * A member that only one version of OpenAPI has takes effect where a contract moves to that version, or loses it, though its
 * text stays the same. Contracts of one version keep it. One table over the members: what the move comes to, and back.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { hasMember, isMovedBetween, type VersionedKind } from '../../../engine/contracts/openapi/version-members.ts'
import { worstOf, alarmsOf, type Worst } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const TEXT = { type: 'string' }
const DONE = { 200: { description: 'd' } }
const THING = { type: 'object', required: ['a'], properties: { a: TEXT } }
const OTHER = { type: 'object', properties: { a: TEXT, b: TEXT } }

const item = (members: Json, rest: Json = {}): Json => ({
  paths: { '/p': { get: { responses: DONE }, ...members } },
  ...rest,
})
const operation = (members: Json, rest: Json = {}): Json => item({ post: { responses: DONE, ...members } }, rest)
const sent = (type: string, media: Json): Json =>
  operation({ requestBody: { required: true, content: { [type]: media } } })
const answered = (content: Json, rest: Json = {}): Json =>
  operation({ responses: { 200: { description: 'd', content } } }, rest)
const parameter = (members: Json): Json => operation({ parameters: [{ name: 'x', ...members }] })
const json = { content: { 'application/json': { schema: TEXT } } }
const secured = (type: Json, requirement: Json = { s: ['r'] }): Json =>
  operation({ security: [requirement] }, { components: { securitySchemes: { s: type } } })
const flow = { tokenUrl: 'https://id.example/t', scopes: { r: '' } }
const device = { ...flow, deviceAuthorizationUrl: 'https://id.example/d' }
const parts = (members: Json): Json => sent('multipart/mixed', { schema: { type: 'array' }, ...members })
const chosen = (discriminator: Json): Json =>
  answered(
    {
      'application/json': {
        schema: { oneOf: [{ $ref: '#/components/schemas/A' }, { $ref: '#/components/schemas/B' }], discriminator },
      },
    },
    { components: { schemas: { A: THING, B: OTHER } } },
  )

const SELF = 'https://x.example/api'
const ADDRESSED = {
  $self: SELF,
  components: {
    schemas: { A: THING, B: { ...THING, $id: 'a' } },
    parameters: { P: { name: 'x', in: 'query', schema: TEXT } },
  },
}

/** From the version without the member to the one with it, and back. */
type Row = readonly [what: string, rest: Json, forth: Worst, back: Worst]

const SINCE_32: readonly Row[] = [
  ['the method query', item({ query: { responses: DONE } }), 'info', 'breaking'],
  ['additional operations', item({ additionalOperations: { COPY: { responses: DONE } } }), 'info', 'breaking'],
  [
    'a required parameter of the whole query',
    parameter({ in: 'querystring', required: true, ...json }),
    'breaking',
    'dangerous',
  ],
  ['an optional parameter of the whole query', parameter({ in: 'querystring', ...json }), 'info', 'dangerous'],
  [
    'the style cookie',
    parameter({ in: 'cookie', style: 'cookie', schema: { type: 'array', items: TEXT } }),
    'breaking',
    'breaking',
  ],
  ['the schema of each item of a request', sent('application/jsonl', { itemSchema: THING }), 'breaking', 'info'],
  [
    'the schema of each item of a response',
    answered({ 'application/jsonl': { itemSchema: THING } }),
    'info',
    'dangerous',
  ],
  ['encodings by position', parts({ prefixEncoding: [{ contentType: 'image/png' }] }), 'breaking', 'breaking'],
  ['the encoding of each item', parts({ itemEncoding: { contentType: 'image/png' } }), 'breaking', 'breaking'],
  [
    'encodings within an encoding',
    sent('multipart/form-data', {
      schema: { type: 'object', properties: { f: { type: 'object', properties: { a: {} } } } },
      encoding: { f: { contentType: 'multipart/mixed', encoding: { a: { contentType: 'image/png' } } } },
    }),
    'breaking',
    'breaking',
  ],
  [
    'a media type behind a reference',
    answered(
      { 'application/json': { $ref: '#/components/mediaTypes/M' } },
      { components: { mediaTypes: { M: { schema: THING } } } },
    ),
    'info',
    'dangerous',
  ],
  [
    'a device flow',
    secured({ type: 'oauth2', flows: { clientCredentials: flow, deviceAuthorization: device } }),
    'dangerous',
    'breaking',
  ],
  ['a device flow alone', secured({ type: 'oauth2', flows: { deviceAuthorization: device } }), 'dangerous', 'breaking'],
  [
    'a requirement with an address',
    secured({ type: 'apiKey', in: 'header', name: 'K' }, { '#/components/securitySchemes/s': [] }),
    'breaking',
    'breaking',
  ],
  [
    'the metadata of a scheme',
    secured({ type: 'oauth2', oauth2MetadataUrl: 'https://id.example/m', flows: { clientCredentials: flow } }),
    'dangerous',
    'dangerous',
  ],
  ['the default of a discriminator', chosen({ propertyName: 'a', defaultMapping: 'A' }), 'dangerous', 'info'],
  [
    'the address of the document, in a request',
    { ...sent('application/json', { schema: { $ref: `${SELF}#/components/schemas/A` } }), ...ADDRESSED },
    'breaking',
    'dangerous',
  ],
  [
    'the address of the document, in a response',
    { ...answered({ 'application/json': { schema: { $ref: `${SELF}#/components/schemas/A` } } }), ...ADDRESSED },
    'dangerous',
    'breaking',
  ],
  [
    'an address relative to that of the document',
    { ...answered({ 'application/json': { schema: { $ref: 'https://x.example/a' } } }), ...ADDRESSED },
    'dangerous',
    'breaking',
  ],
  [
    'the address of the document, of a parameter',
    { ...operation({ parameters: [{ $ref: `${SELF}#/components/parameters/P` }] }), ...ADDRESSED },
    'info',
    'dangerous',
  ],
  [
    'the node type of XML',
    answered({
      'application/xml': { schema: { type: 'object', properties: { a: { ...TEXT, xml: { nodeType: 'attribute' } } } } },
    }),
    'breaking',
    'breaking',
  ],
]

const SINCE_31: readonly Row[] = [
  ['a webhook', { paths: {}, webhooks: { w: { post: { responses: DONE } } } }, 'info', 'breaking'],
  [
    'an operation that is a shared path item',
    item({ $ref: '#/components/pathItems/P' }, { components: { pathItems: { P: { put: { responses: DONE } } } } }),
    'info',
    'breaking',
  ],
  ['certificates of clients', secured({ type: 'mutualTLS' }, { s: [] }), 'breaking', 'breaking'],
]

const SINCE_30: readonly Row[] = [
  ['the method trace', item({ trace: { responses: DONE } }), 'info', 'breaking'],
  ['a cookie', parameter({ in: 'cookie', required: true, type: 'string' }), 'breaking', 'dangerous'],
  [
    'a callback',
    operation({ callbacks: { c: { '{$request.query.u}': { post: { responses: DONE } } } } }),
    'info',
    'breaking',
  ],
  [
    'a link',
    operation({ responses: { 200: { description: 'd', links: { l: { operationId: 'o' } } } } }),
    'info',
    'dangerous',
  ],
]

const NEITHER: Row = [
  'what each version has',
  operation({
    parameters: [{ name: 'x', in: 'query', schema: TEXT }],
    responses: { 200: { description: 'd', ...json } },
  }),
  'none',
  'none',
]

type Version = '2.0' | '3.0.3' | '3.1.0' | '3.1.1' | '3.2.0'

const written = (version: Version, rest: Json): Json => ({
  ...(version === '2.0' ? { swagger: version } : { openapi: version }),
  info: { title: 't', version: '1' },
  ...rest,
})

const MOVES: readonly (readonly [without: Version, with_: Version, rows: readonly Row[]])[] = [
  ['3.1.0', '3.2.0', [...SINCE_32, NEITHER]],
  ['3.0.3', '3.2.0', [...SINCE_32, ...SINCE_31, NEITHER]],
  ['3.0.3', '3.1.0', [...SINCE_31, NEITHER]],
  ['2.0', '3.0.3', SINCE_30],
]

for (const [one, other, rows] of MOVES) {
  suite(`the same text in OpenAPI ${one} and ${other}`, () => {
    for (const [what, rest, forth, back] of rows) {
      test(what, () => {
        const [before, after] = [written(one, rest), written(other, rest)]
        const levels = [worstOf('openapi', before, after), worstOf('openapi', after, before)]
        assert.deepEqual(levels, [forth, back])
      })
    }
  })
}

test('contracts of one version keep what it does not have, as many readers do', () => {
  const [gone, kept] = [item({}), item({ query: { responses: DONE } })]
  for (const [before, after] of [
    ['3.1.0', '3.1.0'],
    ['3.1.0', '3.1.1'],
    ['3.0.3', '3.0.3'],
  ] as const) {
    assert.equal(worstOf('openapi', written(before, kept), written(after, kept)), 'none')
    assert.equal(worstOf('openapi', written(before, kept), written(after, gone)), 'breaking')
  }
})

test('a part at a place of its own is read in every version', () => {
  const rest = item(
    { $ref: '#/x-parts/components/pathItems/P' },
    { 'x-parts': { components: { pathItems: { P: { put: { responses: DONE } } } } } },
  )
  const [before, after] = [written('3.0.3', rest), written('3.1.0', rest)]
  assert.deepEqual([worstOf('openapi', before, after), worstOf('openapi', after, before)], ['none', 'none'])
})

test('a finding says that the move did it, and another one does not', () => {
  const rest = item({ query: { responses: DONE }, put: { responses: DONE } })
  const left = item({ query: { responses: DONE } })
  const messages = alarmsOf('openapi', written('3.2.0', rest), written('3.1.0', left)).map(({ message }) => message)
  assert.deepEqual(messages.sort(), [
    'the operation was removed without having been deprecated',
    'the operation was removed without having been deprecated; `query` loses its effect by the move from OpenAPI 3.2.0 to 3.1.0',
  ])
})

test('versions move with their minor number', () => {
  const moves = [
    ['3.1.0', '3.1.1'],
    ['3.1.0', '3.2.0'],
    ['', '3.1.0'],
    ['2.0', '3.0.0'],
  ] as const
  assert.deepEqual(
    moves.map(([base, head]) => isMovedBetween({ version: base }, { version: head })),
    [false, true, false, true],
  )
  const kind: VersionedKind = 'path item'
  assert.deepEqual(
    [false, true].map((isStrict) => hasMember({ version: '3.1.0', isStrict }, kind, 'query')),
    [true, false],
  )
})
