/** A contract that moves to a newer version of OpenAPI keeps its meaning: Swagger 2.0, 3.0 and 3.1 of one interface are the same. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compareOpenApi } from '../../../engine/diff/openapi/compare.ts'
import { sha256 } from '../../conformance/openapi-run.ts'

type Json = Readonly<Record<string, unknown>>

const INFO = { title: 'pets', version: '1' }
const LIST = { type: 'array', items: { type: 'integer' } }
const REQUIREMENT = { security: [{ key: [] }] }
const KEY = { type: 'apiKey', in: 'header', name: 'X-Key' }
const FLOW = { authorizationUrl: 'https://a.example', tokenUrl: 'https://t.example', scopes: { read: 'to read' } }

function pet(folder: string, name: Json, discriminator: unknown): Json {
  const kids = { type: 'array', items: { $ref: `#/${folder}/Pet` } }
  const kind = { type: 'string', enum: ['cat', 'dog'] }
  return { type: 'object', required: ['name'], properties: { name, kind, kids }, discriminator }
}

const TWO: Json = {
  swagger: '2.0',
  info: INFO,
  host: 'pets.example',
  basePath: '/v1/',
  schemes: ['https'],
  produces: ['application/json'],
  ...REQUIREMENT,
  securityDefinitions: {
    basic: { type: 'basic' },
    key: KEY,
    code: { type: 'oauth2', flow: 'accessCode', ...FLOW },
  },
  parameters: { limit: { name: 'limit', in: 'query', type: 'integer', maximum: 100, default: 10 } },
  definitions: { Pet: pet('definitions', { type: 'string', 'x-nullable': true }, 'kind') },
  paths: {
    '/pets/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, type: 'string', pattern: '^p' }],
      get: {
        parameters: [
          { $ref: '#/parameters/limit' },
          { name: 'commas', in: 'query', ...LIST },
          { name: 'again', in: 'query', collectionFormat: 'multi', ...LIST },
          { name: 'pipes', in: 'query', collectionFormat: 'pipes', ...LIST },
        ],
        responses: {
          200: {
            description: 'one',
            headers: { 'X-Rate': { type: 'integer' } },
            schema: { $ref: '#/definitions/Pet' },
          },
        },
      },
      put: {
        parameters: [{ name: 'pet', in: 'body', required: true, schema: { $ref: '#/definitions/Pet' } }],
        responses: { 204: { description: 'done' } },
      },
      post: {
        consumes: ['multipart/form-data'],
        produces: ['application/octet-stream'],
        parameters: [
          { name: 'file', in: 'formData', type: 'file', required: true },
          { name: 'note', in: 'formData', type: 'string', format: 'byte' },
        ],
        responses: { 200: { description: 'a picture', schema: { type: 'file' } } },
      },
    },
  },
}

interface Written {
  readonly openapi: string
  readonly url: string
  readonly nullableText: Json
  readonly upload: Json
  readonly base64: Json
  readonly download: Json
}

function list(name: string, style: string, explode: boolean): Json {
  return { name, in: 'query', style, explode, schema: LIST }
}

function three({ openapi, url, nullableText, upload, base64, download }: Written): Json {
  const schema = { $ref: '#/components/schemas/Pet' }
  const content = { 'application/json': { schema } }
  const fields = { type: 'object', required: ['file'], properties: { file: upload, note: base64 } }
  return {
    openapi,
    info: INFO,
    servers: [{ url }],
    ...REQUIREMENT,
    components: {
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic' },
        key: KEY,
        code: { type: 'oauth2', flows: { authorizationCode: FLOW } },
      },
      parameters: { limit: { name: 'limit', in: 'query', schema: { type: 'integer', maximum: 100, default: 10 } } },
      schemas: { Pet: pet('components/schemas', nullableText, { propertyName: 'kind' }) },
    },
    paths: {
      '/pets/{id}': {
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', pattern: '^p' } }],
        get: {
          parameters: [
            { $ref: '#/components/parameters/limit' },
            list('commas', 'form', false),
            list('again', 'form', true),
            list('pipes', 'pipeDelimited', false),
          ],
          responses: {
            200: { description: 'one', headers: { 'X-Rate': { schema: { type: 'integer' } } }, content },
          },
        },
        put: { requestBody: { required: true, content }, responses: { 204: { description: 'done' } } },
        post: {
          requestBody: { required: true, content: { 'multipart/form-data': { schema: fields } } },
          responses: { 200: { description: 'a picture', content: { 'application/octet-stream': download } } },
        },
      },
    },
  }
}

const BINARY = { type: 'string', format: 'binary' }

const VERSIONS: Readonly<Record<string, Json>> = {
  '2.0': TWO,
  '3.0': three({
    openapi: '3.0.3',
    url: 'https://pets.example/v1',
    nullableText: { type: 'string', nullable: true },
    upload: BINARY,
    base64: { type: 'string', format: 'byte' },
    download: { schema: BINARY },
  }),
  '3.1': three({
    openapi: '3.1.0',
    url: 'https://pets.example/v1/',
    nullableText: { type: ['string', 'null'] },
    upload: { type: 'string', contentMediaType: 'application/octet-stream' },
    base64: { type: 'string', contentEncoding: 'base64' },
    download: {},
  }),
  '3.1 that says nothing of bytes': three({
    openapi: '3.1.0',
    url: '//pets.example/v1',
    nullableText: { type: ['string', 'null'] },
    upload: {},
    base64: { type: 'string', contentEncoding: 'base64' },
    download: { schema: {} },
  }),
}

suite('one interface, written', () => {
  for (const [base, before] of Object.entries(VERSIONS)) {
    for (const [head, after] of Object.entries(VERSIONS)) {
      if (base.startsWith('3.1') && head.startsWith('3.1')) continue
      test(`in ${base} and in ${head} is the same`, () => {
        const compared = compareOpenApi(JSON.stringify(before), JSON.stringify(after), {}, sha256)
        assert.ok(compared.ok)
        assert.deepEqual(
          compared.value.groups.map(({ rule, location }) => `${rule} ${location}`),
          [],
        )
      })
    }
  }

  test('with other bytes in the same language is another one', () => {
    const before = JSON.stringify(VERSIONS['3.1'])
    const after = before.replaceAll('"contentEncoding":"base64"', '"contentEncoding":"base64url"')
    const compared = compareOpenApi(before, after, {}, sha256)
    assert.ok(compared.ok)
    assert.deepEqual(
      compared.value.groups.map(({ rule }) => rule),
      ['request-property-content-encoding-changed'],
    )
  })
})

const form = (kinds: readonly string[], others: readonly Json[] = []): Json => ({
  swagger: '2.0',
  info: INFO,
  paths: {
    '/pets': {
      post: {
        consumes: ['multipart/form-data'],
        parameters: [...others, { name: 'kind', in: 'formData', type: 'string', enum: kinds }],
        responses: { 200: { description: 'done' } },
      },
    },
  },
})

suite('a form field of Swagger 2.0', () => {
  test('is reported at its place in the list of parameters', () => {
    const other = { name: 'page', in: 'query', type: 'integer' }
    const [before, after] = [form(['cat', 'dog'], [other]), form(['cat'], [other])].map((side) => JSON.stringify(side))
    const compared = compareOpenApi(before ?? '', after ?? '', {}, sha256)
    assert.ok(compared.ok)
    const [group] = compared.value.groups
    assert.equal(group?.rule, 'request-property-enum-value-removed')
    assert.equal(group?.location, '/paths/~1pets/post/parameters/1/enum/1')
  })
})

const FILE = { type: 'file' }
const TEXT = { type: 'string' }
const BYTES = { type: 'string', format: 'binary' }

function upload(schema: Json): Json {
  const field = { name: 'photo', in: 'formData', required: true, ...schema }
  const post = { consumes: ['multipart/form-data'], parameters: [field], responses: { 200: { description: 'done' } } }
  return { swagger: '2.0', info: INFO, paths: { '/photos': { post } } }
}

function uploadOf3(schema: Json): Json {
  const content = {
    'multipart/form-data': { schema: { type: 'object', required: ['photo'], properties: { photo: schema } } },
  }
  const post = { requestBody: { required: true, content }, responses: { 200: { description: 'done' } } }
  return { openapi: '3.0.3', info: INFO, paths: { '/photos': { post } } }
}

function download(schema: Json): Json {
  const get = { produces: ['application/octet-stream'], responses: { 200: { description: 'one', schema } } }
  return { swagger: '2.0', info: INFO, paths: { '/photos': { get } } }
}

/** Both sides, and whether the change breaks callers. */
const FILES: Readonly<Record<string, readonly [before: Json, after: Json, isBreaking: boolean]>> = {
  'an upload as text': [upload(FILE), upload(TEXT), true],
  'a text as upload': [upload(TEXT), upload(FILE), true],
  'an upload as text of 3.0': [upload(FILE), uploadOf3(TEXT), true],
  'a text of 2.0 as upload of 3.0': [upload(TEXT), uploadOf3(BYTES), true],
  'an upload as number': [upload(FILE), upload({ type: 'integer' }), true],
  'a download as text': [download(FILE), download(TEXT), true],
  'a text as download': [download(TEXT), download(FILE), true],
  'an upload as bytes': [upload(FILE), upload(BYTES), false],
  'bytes as upload': [upload(BYTES), upload(FILE), false],
  'an upload as bytes of 3.0': [upload(FILE), uploadOf3(BYTES), false],
  'a download as bytes': [download(FILE), download(BYTES), false],
}

suite('a file of Swagger 2.0 is not a text', () => {
  for (const [name, [before, after, isBreaking]] of Object.entries(FILES)) {
    test(name, () => {
      const compared = compareOpenApi(JSON.stringify(before), JSON.stringify(after), {}, sha256)
      assert.ok(compared.ok)
      const levels = compared.value.groups.map(({ rule, level }) => `${rule} ${level}`)
      assert.equal(levels.length, isBreaking ? 1 : 0, levels.join())
      assert.equal(levels[0]?.endsWith('-type-changed breaking') ?? false, isBreaking, levels.join())
    })
  }
})

test('a server of Swagger 2.0 is reported at its host, or at its base path', () => {
  const { host: _host, ...hostless } = TWO
  const sides: readonly (readonly [Json, Json, string])[] = [
    [TWO, { ...TWO, host: 'cats.example' }, '/host'],
    [hostless, { ...hostless, basePath: '/v2/' }, '/basePath'],
  ]
  for (const [before, after, location] of sides) {
    const compared = compareOpenApi(JSON.stringify(before), JSON.stringify(after), {}, sha256)
    assert.ok(compared.ok)
    const found = compared.value.groups.map((group) => [group.rule, group.location])
    assert.deepEqual(found, [
      ['server-removed', location],
      ['server-added', location],
    ])
  }
})
