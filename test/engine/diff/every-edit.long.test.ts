/**
 * Every single edit of an OpenAPI contract. Two things are a proof: a call that the base describes and the head refuses, and an
 * answer of the head that the base rules out. For webhooks and callbacks the sides change roles. A breaking or dangerous change
 * must then be reported. Lists whose order has no meaning may change it. Every edit runs with SHARE=1.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkEdits, foundBetween } from '../edit-run.ts'
import { everyEdit } from '../edits.ts'
import { Contract } from './wire-contract.ts'
import { callsOf, reached, refusal, unreadable } from './wire.ts'

const TEXT = { type: 'string', enum: ['x', 'y', 'b c'] }
const WHOLE = { type: 'integer', minimum: 7, maximum: 8 }
const LIST = { type: 'array', items: TEXT, minItems: 1, maxItems: 2 }
const OBJECT = { type: 'object', required: ['a'], properties: { a: TEXT, b: WHOLE }, additionalProperties: false }
const JSON_TYPE = 'application/json'
const FORM = { type: 'object', properties: { a: LIST, b: WHOLE }, additionalProperties: false }
const HEADERS = {
  'X-Count': { required: true, schema: WHOLE, style: 'simple' },
  'X-List': { schema: LIST, explode: false },
  'X-Json': { content: { [JSON_TYPE]: { schema: OBJECT } } },
  'X-Ref': { $ref: '#/components/headers/limit' },
}

const BASE = {
  openapi: '3.1.0',
  info: { title: 'Things', version: '1.0.0' },
  servers: [
    { url: 'https://{region}.example/v1', variables: { region: { default: 'eu', enum: ['eu', 'us'] } } },
    { url: 'https://example.com/v1' },
  ],
  security: [{ key: [] }, { oauth: ['read'] }],
  tags: [{ name: 't' }],
  paths: {
    '/a/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: WHOLE }, { $ref: '#/components/parameters/page' }],
      get: {
        operationId: 'read',
        tags: ['t', 'u'],
        deprecated: false,
        security: [{ key: [], oauth: ['read', 'write'] }, {}],
        servers: [{ url: 'https://read.example' }, { url: 'https://example.com/v1' }],
        parameters: [
          { name: 'page', in: 'query', schema: WHOLE },
          { name: 'q', in: 'query', required: true, allowReserved: false, schema: { ...TEXT, default: 'x' } },
          { name: 'e', in: 'query', allowEmptyValue: true, schema: WHOLE },
          { name: 'list', in: 'query', style: 'form', explode: true, schema: LIST },
          { name: 'pipe', in: 'query', style: 'pipeDelimited', explode: false, schema: LIST },
          { name: 'deep', in: 'query', style: 'deepObject', explode: true, schema: OBJECT },
          { name: 'json', in: 'query', content: { [JSON_TYPE]: { schema: OBJECT } } },
          { name: 'X-H', in: 'header', style: 'simple', explode: false, schema: LIST },
          { name: 'c', in: 'cookie', style: 'form', explode: false, schema: TEXT },
        ],
        responses: {
          200: {
            description: 'done',
            headers: HEADERS,
            content: { [JSON_TYPE]: { schema: OBJECT }, 'text/csv': {} },
            links: {
              next: {
                operationId: 'read',
                parameters: { id: '$response.body#/b' },
                requestBody: '$request.body',
                server: { url: 'https://l.example' },
              },
              other: { operationRef: '#/paths/~1b/post' },
            },
          },
          '4XX': { $ref: '#/components/responses/fault' },
          404: { description: 'gone', content: { [JSON_TYPE]: { schema: OBJECT } } },
          default: {
            description: 'other',
            content: { [JSON_TYPE]: { schema: { $ref: '#/components/schemas/Fault' } } },
          },
        },
      },
    },
    '/a/x': { delete: { security: [], responses: { 200: { description: 'done' } } } },
    '/m/{p}/{l}': {
      servers: [{ url: 'https://m.example' }],
      get: {
        parameters: [
          { name: 'p', in: 'path', required: true, style: 'matrix', explode: true, schema: LIST },
          { name: 'l', in: 'path', required: true, style: 'label', schema: LIST },
        ],
        responses: { '2XX': { description: 'done', content: { 'application/*': { schema: OBJECT } } } },
      },
    },
    '/b': {
      post: {
        operationId: 'write',
        requestBody: {
          required: true,
          content: {
            [JSON_TYPE]: { schema: { $ref: '#/components/schemas/Thing' } },
            'application/vnd.a+json': { schema: OBJECT },
            'text/*': {},
          },
        },
        responses: { 201: { description: 'made' } },
        callbacks: {
          done: {
            '{$request.body#/a}': {
              post: {
                parameters: [{ name: 'X-Id', in: 'header', required: true, schema: WHOLE }],
                requestBody: { required: true, content: { [JSON_TYPE]: { schema: OBJECT } } },
                responses: { 200: { description: 'ok', content: { [JSON_TYPE]: { schema: OBJECT } } } },
              },
            },
          },
          kept: { $ref: '#/components/callbacks/kept' },
        },
      },
      put: {
        requestBody: { $ref: '#/components/requestBodies/form' },
        responses: { 200: { description: 'done' } },
      },
      patch: {
        requestBody: {
          content: {
            'multipart/form-data': {
              schema: OBJECT,
              encoding: { a: { contentType: 'text/plain', headers: { 'X-P': { required: false, schema: TEXT } } } },
            },
          },
        },
        responses: { 200: { description: 'done' } },
      },
    },
    '/c': { $ref: '#/components/pathItems/shared' },
  },
  webhooks: {
    sent: {
      post: {
        parameters: [{ name: 'X-W', in: 'header', required: true, schema: WHOLE }],
        requestBody: { required: true, content: { [JSON_TYPE]: { schema: OBJECT } } },
        responses: { 200: { description: 'ok', content: { [JSON_TYPE]: { schema: OBJECT } } } },
      },
    },
  },
  components: {
    schemas: { Thing: OBJECT, Fault: { type: 'object', required: ['a'], properties: { a: TEXT } } },
    parameters: { page: { name: 'page', in: 'query', schema: WHOLE } },
    headers: { limit: { required: true, schema: WHOLE } },
    responses: {
      fault: { description: 'no', content: { [JSON_TYPE]: { schema: { $ref: '#/components/schemas/Fault' } } } },
    },
    requestBodies: {
      form: {
        content: {
          'application/x-www-form-urlencoded': {
            schema: FORM,
            encoding: { a: { style: 'form', explode: true, allowReserved: false } },
          },
        },
      },
    },
    callbacks: {
      kept: {
        'https://x.example': {
          put: {
            requestBody: { content: { [JSON_TYPE]: { schema: OBJECT } } },
            responses: { 200: { description: 'ok' } },
          },
        },
      },
    },
    pathItems: {
      shared: { get: { responses: { 200: { description: 'ok', content: { [JSON_TYPE]: { schema: TEXT } } } } } },
    },
    securitySchemes: {
      key: { type: 'apiKey', in: 'header', name: 'X-Key' },
      oauth: {
        type: 'oauth2',
        flows: {
          clientCredentials: {
            tokenUrl: 'https://id.example/t',
            refreshUrl: 'https://id.example/r',
            scopes: { read: '', write: '' },
          },
        },
      },
    },
  },
}

/** Members of OpenAPI 3.1 with a meaning for callers, by the object that has them. Schemas have tests of their own. */
const MEMBERS: Readonly<Record<string, string>> = {
  'the contract': 'servers security paths webhooks components',
  components: 'schemas parameters headers responses requestBodies callbacks pathItems securitySchemes',
  'a server': 'url variables default enum',
  'a path': '$ref servers parameters get put post delete patch',
  'an operation': 'operationId tags deprecated security servers parameters requestBody responses callbacks',
  'a parameter': 'name in required style explode allowReserved allowEmptyValue schema content',
  'a body': 'required content',
  'a media type': 'schema encoding',
  'an encoding': 'contentType headers style explode allowReserved',
  'an answer': 'headers content links 200 4XX default',
  'a header': 'required style explode schema content',
  'a link': 'operationId operationRef parameters requestBody server',
  'a security scheme': 'type in name flows tokenUrl refreshUrl scopes',
}

test('every member of OpenAPI is edited', () => {
  const edited = new Set([...everyEdit(BASE)].flatMap(({ what }) => what.split('/')))
  const missing = Object.entries(MEMBERS).flatMap(([holder, names]) =>
    names.split(' ').flatMap((name) => (edited.has(name) ? [] : [`${name} of ${holder}`])),
  )
  assert.deepEqual(missing, [])
})

/** What the base promised and the head does not keep; null: nothing is proved. */
function proofOf(base: Contract, head: Contract): string | null {
  for (const operation of base.operations()) {
    const name = `${operation.method} ${operation.path}`
    for (const call of callsOf(operation)) {
      const [own, other] = [reached(base, call), reached(head, call)]
      // Another operation of the base takes calls whose values are its fixed segments.
      if (own?.path !== operation.path || refusal(own, call) !== null) continue
      const why = other === undefined ? 'no operation' : refusal(other, call)
      if (why !== null) return `${name}: ${why}`
      const fault = other === undefined ? null : unreadable(operation, other)
      if (fault !== null) return `${name} answers ${fault}`
    }
  }
  const sent = new Map(head.provided().map((one) => [`${one.method} ${one.path}`, one]))
  for (const receiver of base.provided()) {
    const name = `${receiver.method} ${receiver.path}`
    const provider = sent.get(name)
    if (provider === undefined) return `${name} is no longer sent`
    for (const { server: _server, credentials: _credentials, ...call } of callsOf(provider)) {
      const why = refusal({ ...receiver, security: [] }, { ...call, server: null, credentials: null })
      if (why !== null) return `${name}, to its receiver: ${why}`
    }
    const fault = unreadable(provider, receiver)
    if (fault !== null) return `${name}, answered as before: ${fault}`
  }
  return null
}

test('an edit that breaks a caller or a reader is not information', (t) => {
  const base = new Contract(BASE)
  assert.equal(proofOf(base, new Contract(structuredClone(BASE))), null)
  checkEdits(t, {
    type: 'openapi',
    base: BASE,
    edits: everyEdit(BASE),
    share: 8,
    proofOf: (document) => proofOf(base, new Contract(document)),
  })
})

/** Lists whose order has a meaning, or that tests of their own know. */
const ORDERED = /\/(?:prefixItems|examples)$/

test('another order of lists is no change', () => {
  for (const { what, document } of everyEdit(BASE))
    if (what.startsWith('moved') && !ORDERED.test(what))
      assert.deepEqual(foundBetween('openapi', BASE, document), [], what)
})
