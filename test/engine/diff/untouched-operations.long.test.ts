/**
 * Every single edit of a contract finds the same, whether operations that are written the same are compared or not. They are
 * compared where the roots of the two contracts differ in a member that nothing depends on.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_FILES } from '../../../engine/contracts/documents.ts'
import { readDocument } from '../../../engine/contracts/document.ts'
import { pathItemsOf, type OpenApiContract } from '../../../engine/contracts/openapi/contract.ts'
import { readOpenApiContract } from '../../../engine/contracts/openapi/reading.ts'
import { untouchedOperations } from '../../../engine/diff/openapi/untouched-operations.ts'
import { DEFAULT_DOCUMENT_LIMITS } from '../../../engine/model/limits.ts'
import { foundBetween } from '../edit-run.ts'
import { everyEdit } from '../edits.ts'

const JSON_TYPE = 'application/json'
const PET = { $ref: '#/components/schemas/Pet' }
const TREE = { $ref: '#/components/schemas/Tree' }
const OK = { 200: { description: 'd', content: { [JSON_TYPE]: { schema: TREE, example: { a: 1 } } } } }

/** A contract in which operations share parts, and depend on parts that they do not refer to. */
const BASE = {
  openapi: '3.0.3',
  info: { title: 't', version: '1' },
  servers: [{ url: 'https://a.example' }],
  security: [{ key: [] }],
  paths: {
    '/trees/{id}': {
      parameters: [{ $ref: '#/components/parameters/id' }],
      get: { operationId: 'tree', responses: OK },
      put: {
        operationId: 'plant',
        security: [],
        requestBody: { required: true, content: { [JSON_TYPE]: { schema: TREE, examples: { one: { value: 1 } } } } },
        responses: { 204: { description: 'd' } },
      },
    },
    '/pets': { post: { requestBody: { content: { [JSON_TYPE]: { schema: PET } } }, responses: OK } },
    '/cats': {
      get: {
        responses: {
          200: {
            description: 'd',
            content: { [JSON_TYPE]: { schema: { $ref: '#/components/schemas/Cat' } } },
            links: { tree: { operationId: 'tree' } },
          },
          default: { $ref: '#/components/responses/fault' },
        },
      },
    },
    '/forms': {
      post: {
        requestBody: {
          content: {
            'multipart/form-data': {
              schema: { type: 'object', properties: { content: { type: 'string' }, example: { type: 'integer' } } },
              encoding: {
                content: { contentType: 'text/plain', headers: { example: { schema: { type: 'string' } } } },
              },
            },
          },
        },
        responses: { default: { $ref: '#/components/responses/fault' } },
      },
    },
  },
  components: {
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } },
    parameters: { id: { name: 'id', in: 'path', required: true, schema: { type: 'integer' } } },
    responses: { fault: { description: 'd', headers: { 'X-N': { $ref: '#/components/headers/n' } } } },
    headers: { n: { required: true, schema: { type: 'integer', maximum: 9 } } },
    schemas: {
      Tree: { type: 'object', properties: { left: TREE, leaf: { $ref: '#/components/schemas/Leaf' } } },
      Leaf: { type: 'string', maxLength: 9, default: 'x' },
      Pet: {
        type: 'object',
        required: ['kind'],
        properties: { kind: { type: 'string' } },
        discriminator: { propertyName: 'kind' },
      },
      Cat: { allOf: [PET, { type: 'object', properties: { lives: { type: 'integer' } } }] },
    },
  },
}

/** Those that depend only on parts to which they refer. */
const ALL = ['POST /forms', 'GET /trees/{id}', 'PUT /trees/{id}']

function contractOf(document: unknown): OpenApiContract {
  const text = JSON.stringify(document)
  const read = readDocument(text, DEFAULT_DOCUMENT_LIMITS)
  assert.ok(read.ok)
  const contract = readOpenApiContract(read.value, text, NO_FILES)
  assert.ok(contract)
  return contract
}

/** Operations by method and path. */
function untouchedIn(edit: (contract: typeof BASE) => unknown): readonly string[] {
  const changed = structuredClone(BASE)
  edit(changed)
  const [base, head] = [contractOf(BASE), contractOf(changed)]
  const items = pathItemsOf(head, 'paths')
  const kept = pathItemsOf(base, 'paths').flatMap((item) => {
    const other = items.find(({ path }) => path === item.path)
    return other === undefined ? [] : [[item, other] as const]
  })
  const untouched = untouchedOperations({ base, head }, kept)
  return items.flatMap(({ path, operations }) =>
    [...operations.values()].filter((one) => untouched.has(one)).map(({ method }) => `${method} ${path}`),
  )
}

const TOUCHED: readonly (readonly [what: string, edit: (contract: typeof BASE) => unknown, left: readonly string[]])[] =
  [
    ['nothing', () => null, ALL],
    [
      'an example of a response',
      ({ paths }) => Object.assign(paths['/trees/{id}'].get.responses[200].content[JSON_TYPE].example, { a: 2 }),
      ALL,
    ],
    ['another description', ({ info }) => Object.assign(info, { description: 'x' }), ALL],
    ['a security scheme', ({ components }) => Object.assign(components.securitySchemes.key, { name: 'X-Other' }), []],
    ['servers', (contract) => Object.assign(contract, { servers: [] }), []],
    [
      'a leaf of a recursive schema',
      ({ components }) => Object.assign(components.schemas.Leaf, { maxLength: 8 }),
      ALL.slice(0, 1),
    ],
    [
      'a shared parameter',
      ({ components }) => Object.assign(components.parameters.id.schema, { type: 'string' }),
      ALL.slice(0, 1),
    ],
    [
      'a header of a shared response',
      ({ components }) => Object.assign(components.headers.n, { required: false }),
      ALL.slice(1),
    ],
  ]

test('operations that are written the same, with all that they refer to, are untouched', () => {
  for (const [what, edit, left] of TOUCHED) assert.deepEqual(untouchedIn(edit), left, what)
})

const leafUpTo = (maximum: number): unknown => ({ Leaf: { type: 'integer', maximum } })

const secured = (scheme: string): unknown => ({
  ...BASE,
  components: {
    ...BASE.components,
    securitySchemes: { key: { $ref: '#/components/x-schemes/key' } },
    'x-schemes': { key: { type: 'http', scheme } },
  },
})

test('an operation in another file depends on the parts of that file', () => {
  const contract = {
    openapi: '3.0.3',
    info: { title: 't', version: '1' },
    paths: { '/a': { $ref: './a.json#/item' } },
    components: { schemas: leafUpTo(1) },
  }
  const body = { content: { [JSON_TYPE]: { schema: { $ref: '#/components/schemas/Leaf' } } } }
  const file = (maximum: number): unknown => ({
    item: { post: { requestBody: body, responses: { 200: { description: 'd' } } } },
    components: { schemas: leafUpTo(maximum) },
  })
  const found = foundBetween('openapi', contract, contract, {
    files: { 'a.json': { before: file(9), after: file(5) } },
  })
  assert.match(found?.join() ?? '', /^breaking request-body-max-decreased/)
})

test('a scheme behind a reference counts', () => {
  const found = foundBetween('openapi', secured('basic'), secured('bearer'))
  assert.ok(found?.some((one) => one.startsWith('breaking')))
})

test('every edit finds the same whether untouched operations are compared or not', () => {
  const different: string[] = []
  let edits = 0
  for (const { what, document } of everyEdit(BASE)) {
    if (typeof document !== 'object' || document === null) continue
    edits += 1
    const found = foundBetween('openapi', BASE, document)
    const all = foundBetween('openapi', { ...BASE, later: 1 }, { ...document, later: 2 })
    if (JSON.stringify(found) !== JSON.stringify(all)) different.push(what)
  }
  assert.ok(edits > 1000)
  assert.deepEqual(different, [])
})
