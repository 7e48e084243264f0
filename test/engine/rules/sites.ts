/** The places of OpenAPI where a schema stands, for examples of rules. */

export type Schema = Readonly<Record<string, unknown>>

/** A place of OpenAPI where a schema stands, and the beginnings of the ids of its rules. */
export interface Site {
  readonly direction: 'request' | 'response'
  readonly scope: string
  readonly root: string
  readonly property: string
  readonly place: (schema: Schema, mediaType: string) => Schema
  /** Whether types are told apart: of bodies it depends on the media type. */
  readonly isParameter: boolean
  readonly hasMediaType: boolean
}

const ANSWERS = { '200': { description: 'done' } }

function parameterIn(place: string) {
  return (schema: Schema): Schema => ({ parameters: [{ name: 'X-P', in: place, schema }], responses: ANSWERS })
}

function bodyOf(schema: Schema, mediaType: string): Schema {
  return { content: { [mediaType]: { schema } } }
}

function callbackOf(call: Schema): Schema {
  return { responses: ANSWERS, callbacks: { done: { '{$request.query.url}': { post: call } } } }
}

export const SITES: readonly Site[] = [
  {
    direction: 'request',
    scope: 'request',
    root: 'request-body',
    property: 'request-property',
    isParameter: false,
    hasMediaType: true,
    place: (schema, mediaType) => ({ requestBody: bodyOf(schema, mediaType), responses: ANSWERS }),
  },
  {
    direction: 'request',
    scope: 'request-parameter',
    root: 'request-parameter',
    property: 'request-parameter-property',
    isParameter: true,
    hasMediaType: false,
    place: parameterIn('query'),
  },
  {
    direction: 'request',
    scope: 'request-header',
    root: 'request-parameter',
    property: 'request-parameter-property',
    isParameter: true,
    hasMediaType: false,
    place: parameterIn('header'),
  },
  {
    direction: 'response',
    scope: 'response',
    root: 'response-body',
    property: 'response-property',
    isParameter: false,
    hasMediaType: true,
    place: (schema, mediaType) => ({ responses: { '200': { description: 'done', ...bodyOf(schema, mediaType) } } }),
  },
  {
    direction: 'response',
    scope: 'response-header',
    root: 'response-header',
    property: 'response-header-property',
    isParameter: false,
    hasMediaType: false,
    place: (schema) => ({ responses: { '200': { description: 'done', headers: { 'X-H': { schema } } } } }),
  },
  {
    direction: 'response',
    scope: 'callback-request',
    root: 'callback-request-body',
    property: 'callback-request-property',
    isParameter: false,
    hasMediaType: true,
    place: (schema, mediaType) => callbackOf({ requestBody: bodyOf(schema, mediaType), responses: ANSWERS }),
  },
  {
    direction: 'request',
    scope: 'callback-response',
    root: 'callback-response-body',
    property: 'callback-response-property',
    isParameter: false,
    hasMediaType: true,
    place: (schema, mediaType) =>
      callbackOf({ responses: { '200': { description: 'ok', ...bodyOf(schema, mediaType) } } }),
  },
]
