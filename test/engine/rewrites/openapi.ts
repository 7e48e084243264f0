/** Parts of OpenAPI contracts that are written in two ways. */
import type { Written } from './run.ts'

export type Json = Readonly<Record<string, unknown>>

export const T = { type: 'string' }
export const THING = { type: 'object', required: ['id'], properties: { id: T, at: { type: 'integer' } } }
export const ID = { name: 'id', in: 'path', required: true, schema: T }
export const LIMIT = { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1 } }
export const TRACE = { name: 'X-Trace', in: 'header', required: true, schema: T }
export const OK = {
  description: 'd',
  headers: { 'X-A': { schema: T } },
  content: { 'application/json': { schema: THING } },
}
export const FAULT = {
  description: 'd',
  content: { 'application/json': { schema: { type: 'object', properties: { e: T } } } },
}
export const BODY = { required: true, content: { 'application/json': { schema: THING } } }
export const KEY = { type: 'apiKey', in: 'header', name: 'X-Key' }
export const OAUTH = {
  type: 'oauth2',
  flows: { clientCredentials: { tokenUrl: 'https://id.example/t', scopes: { r: '', w: '' } } },
}
export const EVENT = { post: { requestBody: BODY, responses: { 200: { description: 'd' } } } }
export const SCHEMES = { securitySchemes: { key: KEY, oauth: OAUTH } }

export const ref = (path: string): Json => ({ $ref: `#/components/${path}` })
export const file = (path: string): Json => ({ $ref: `parts.json#/${path}` })

export const api = (rest: Json, openapi = '3.1.0'): Written => ({
  document: { openapi, info: { title: 't', version: '1' }, ...rest },
})
export const withFiles = (written: Written, files: Json): Written => ({ ...written, files })

export const get = (operation: Json, item: Json = {}, rest: Json = {}): Written =>
  api({
    paths: { '/things/{id}': { ...item, get: { parameters: [ID], responses: { 200: OK }, ...operation } } },
    ...rest,
  })
export const post = (operation: Json, rest: Json = {}, version = '3.1.0'): Written =>
  api(
    {
      paths: { '/things': { post: { requestBody: BODY, responses: { 200: OK, default: FAULT }, ...operation } } },
      ...rest,
    },
    version,
  )
export const sent = (schema: Json, version: string, media: Json = {}): Written =>
  post(
    {
      requestBody: { content: { 'application/json': { schema, ...media } } },
      responses: { 200: { description: 'd', content: { 'application/json': { schema, ...media } } } },
    },
    {},
    version,
  )
export const listed = (...servers: readonly Json[]): Written => post({}, { servers })

export const EU = { url: 'https://eu.example/v1' }
export const US = { url: 'https://us.example/v1' }

export const WHOLE = {
  openapi: '3.1.0',
  info: { title: 't', version: '1' },
  servers: [EU],
  tags: [{ name: 'a' }, { name: 'b' }],
  security: [{ key: [] }],
  paths: {
    '/things/{id}': {
      parameters: [ID],
      get: { tags: ['a', 'b'], parameters: [LIMIT, TRACE], responses: { 200: OK, 404: FAULT } },
    },
    '/things': { post: { requestBody: BODY, responses: { 200: OK } } },
  },
  webhooks: { made: EVENT },
  components: SCHEMES,
}
