/** The places of OpenAPI contracts and tool manifests where a schema stands, for examples of rules. */

export type Schema = Readonly<Record<string, unknown>>

/** A place where a schema stands, and the beginnings of the ids of its rules. */
export interface Site {
  readonly direction: 'request' | 'response'
  readonly scope: string
  readonly root: string
  readonly property: string
  readonly format: 'openapi' | 'mcp_manifest'
  /** A whole document with the schema at this place. */
  readonly document: (schema: Schema, mediaType: string) => Schema
  /** Whether types are distinguished; for bodies this depends on the media type. */
  readonly isParameter: boolean
  readonly hasMediaType: boolean
}

/** A whole document with one operation. */
function documentOf(operation: Schema): Schema {
  return { openapi: '3.1.0', info: { title: 'Example', version: '1' }, paths: { '/things': { post: operation } } }
}

function manifestOf(tool: Schema): Schema {
  return { tools: [{ name: 'search', inputSchema: { type: 'object' }, ...tool }] }
}

const ANSWERS = { '200': { description: 'done' } }

function parameterIn(place: string) {
  return (schema: Schema, mediaType: string): Schema => {
    // A plain value, unless the pair is about the text that a parameter may hold.
    const value = mediaType === 'application/json' ? { schema } : bodyOf(schema, mediaType)
    return documentOf({ parameters: [{ name: 'X-P', in: place, ...value }], responses: ANSWERS })
  }
}

function bodyOf(schema: Schema, mediaType: string): Schema {
  return { content: { [mediaType]: { schema } } }
}

/** JSON in a field of a head, for pairs about values that a plain text has no form of. */
export const JSON_TEXT = 'application/vnd.example+json'

function fieldOf(schema: Schema, mediaType: string): Schema {
  return mediaType === JSON_TEXT ? bodyOf(schema, mediaType) : { schema }
}

function callbackOf(call: Schema): Schema {
  return documentOf({ responses: ANSWERS, callbacks: { done: { '{$request.query.url}': { post: call } } } })
}

export const SITES: readonly Site[] = [
  {
    direction: 'request',
    scope: 'request',
    root: 'request-body',
    property: 'request-property',
    isParameter: false,
    hasMediaType: true,
    format: 'openapi',
    document: (schema, mediaType) => documentOf({ requestBody: bodyOf(schema, mediaType), responses: ANSWERS }),
  },
  {
    direction: 'request',
    scope: 'request-parameter',
    root: 'request-parameter',
    property: 'request-parameter-property',
    isParameter: true,
    hasMediaType: false,
    format: 'openapi',
    document: parameterIn('query'),
  },
  {
    direction: 'request',
    scope: 'request-header',
    root: 'request-parameter',
    property: 'request-parameter-property',
    isParameter: true,
    hasMediaType: false,
    format: 'openapi',
    document: parameterIn('header'),
  },
  {
    direction: 'response',
    scope: 'response',
    root: 'response-body',
    property: 'response-property',
    isParameter: false,
    hasMediaType: true,
    format: 'openapi',
    document: (schema, mediaType) =>
      documentOf({ responses: { '200': { description: 'done', ...bodyOf(schema, mediaType) } } }),
  },
  {
    direction: 'response',
    scope: 'response-header',
    root: 'response-header',
    property: 'response-header-property',
    isParameter: false,
    hasMediaType: false,
    format: 'openapi',
    document: (schema, mediaType) =>
      documentOf({ responses: { '200': { description: 'done', headers: { 'X-H': fieldOf(schema, mediaType) } } } }),
  },
  {
    direction: 'response',
    scope: 'callback-request',
    root: 'callback-request-body',
    property: 'callback-request-property',
    isParameter: false,
    hasMediaType: true,
    format: 'openapi',
    document: (schema, mediaType) => callbackOf({ requestBody: bodyOf(schema, mediaType), responses: ANSWERS }),
  },
  {
    direction: 'response',
    scope: 'callback-parameter',
    root: 'callback-parameter',
    property: 'callback-parameter-property',
    isParameter: false,
    hasMediaType: false,
    format: 'openapi',
    document: (schema, mediaType) =>
      callbackOf({ parameters: [{ name: 'X-P', in: 'header', ...fieldOf(schema, mediaType) }], responses: ANSWERS }),
  },
  {
    direction: 'request',
    scope: 'callback-response-header',
    root: 'callback-response-header',
    property: 'callback-response-header-property',
    isParameter: false,
    hasMediaType: false,
    format: 'openapi',
    document: (schema, mediaType) =>
      callbackOf({ responses: { '200': { description: 'ok', headers: { 'X-H': fieldOf(schema, mediaType) } } } }),
  },
  {
    direction: 'request',
    scope: 'callback-response',
    root: 'callback-response-body',
    property: 'callback-response-property',
    isParameter: false,
    hasMediaType: true,
    format: 'openapi',
    document: (schema, mediaType) =>
      callbackOf({ responses: { '200': { description: 'ok', ...bodyOf(schema, mediaType) } } }),
  },
  {
    direction: 'request',
    scope: 'tool-input',
    root: 'tool-input',
    property: 'tool-input-property',
    isParameter: false,
    hasMediaType: false,
    format: 'mcp_manifest',
    document: (schema) => manifestOf({ inputSchema: schema }),
  },
  {
    direction: 'response',
    scope: 'tool-output',
    root: 'tool-output',
    property: 'tool-output-property',
    isParameter: false,
    hasMediaType: false,
    format: 'mcp_manifest',
    document: (schema) => manifestOf({ outputSchema: schema }),
  },
]
