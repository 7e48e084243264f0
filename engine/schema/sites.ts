/** The places of schemas. A family makes one rule for each; the site gives ids their prefix and messages their noun. */

/** Who uses the values of a schema: callers write them, readers receive them, or both. */
export type UseDirection = 'request' | 'response' | 'shared'

export interface SchemaSite {
  readonly direction: UseDirection
  readonly area: string
  /** Prefix of the rules about a schema at this site: `request-body`, `response-property`. */
  readonly prefix: string
  /** Prefix of the rules about properties of a schema at this site: `request`, `response-header`. */
  readonly scope: string
  /** False for the whole schema, true for the parts below it. */
  readonly isProperty: boolean
  /** How a message names the schema. `{path}` is the path to it. */
  readonly noun: string
}

/** A schema and the parts below it. */
export interface SitePair {
  readonly root: SchemaSite
  readonly property: SchemaSite
}

function sitePair(
  direction: SchemaSite['direction'],
  scope: string,
  root: { readonly prefix: string; readonly area: string; readonly noun: string },
  property: { readonly prefix: string; readonly area: string; readonly noun: string },
): SitePair {
  return {
    root: { direction, scope, isProperty: false, ...root },
    property: { direction, scope, isProperty: true, ...property },
  }
}

export const REQUEST_BODY = sitePair(
  'request',
  'request',
  { prefix: 'request-body', area: 'schema', noun: 'the request body' },
  { prefix: 'request-property', area: 'schema', noun: 'the request property `{path}`' },
)

export const REQUEST_PARAMETER = sitePair(
  'request',
  'request-parameter',
  { prefix: 'request-parameter', area: 'parameters', noun: 'the request parameter' },
  { prefix: 'request-parameter-property', area: 'parameters', noun: 'the property `{path}` of the request parameter' },
)

export const RESPONSE_BODY = sitePair(
  'response',
  'response',
  { prefix: 'response-body', area: 'schema', noun: 'the response body' },
  { prefix: 'response-property', area: 'schema', noun: 'the response property `{path}`' },
)

export const RESPONSE_HEADER = sitePair(
  'response',
  'response-header',
  { prefix: 'response-header', area: 'headers', noun: 'the response header' },
  { prefix: 'response-header-property', area: 'headers', noun: 'the property `{path}` of the response header' },
)

/** A header parameter. The rules about its properties have header names, the others parameter names. */
export const REQUEST_HEADER_PARAMETER: SitePair = {
  root: { ...REQUEST_PARAMETER.root, scope: 'request-header' },
  property: { ...REQUEST_PARAMETER.property, scope: 'request-header' },
}

/** What the provider sends in a callback, and the client reads. */
export const CALLBACK_REQUEST = sitePair(
  'response',
  'callback-request',
  { prefix: 'callback-request-body', area: 'callbacks', noun: 'the callback body' },
  { prefix: 'callback-request-property', area: 'callbacks', noun: 'the callback property `{path}`' },
)

/** What the client responds to a callback, and the provider reads. */
export const CALLBACK_RESPONSE = sitePair(
  'request',
  'callback-response',
  { prefix: 'callback-response-body', area: 'callbacks', noun: 'the answer to the callback' },
  {
    prefix: 'callback-response-property',
    area: 'callbacks',
    noun: 'the property `{path}` of the answer to the callback',
  },
)

/** Parameters and header fields that the provider sends with a callback or webhook. */
export const CALLBACK_PARAMETER = sitePair(
  'response',
  'callback-parameter',
  { prefix: 'callback-parameter', area: 'callbacks', noun: 'the callback parameter' },
  { prefix: 'callback-parameter-property', area: 'callbacks', noun: 'the property `{path}` of the callback parameter' },
)

/** Header fields of the client's response to a callback or webhook. */
export const CALLBACK_RESPONSE_HEADER = sitePair(
  'request',
  'callback-response-header',
  {
    prefix: 'callback-response-header',
    area: 'callbacks',
    noun: 'the header of the answer to the callback',
  },
  {
    prefix: 'callback-response-header-property',
    area: 'callbacks',
    noun: 'the property `{path}` of the header of the answer to the callback',
  },
)

/** A webhook is a callback that no operation registers: the same rules with other texts. */
export function ofWebhook({ root, property }: SitePair): SitePair {
  return { root: inWebhookWords(root), property: inWebhookWords(property) }
}

function inWebhookWords(site: SchemaSite): SchemaSite {
  return { ...site, noun: site.noun.replace('callback', 'webhook') }
}

/** An agent tool's arguments and its structured result. */
export const TOOL_INPUT = sitePair(
  'request',
  'tool-input',
  { prefix: 'tool-input', area: 'tools', noun: 'the input' },
  { prefix: 'tool-input-property', area: 'tools', noun: 'the input property `{path}`' },
)

export const TOOL_OUTPUT = sitePair(
  'response',
  'tool-output',
  { prefix: 'tool-output', area: 'tools', noun: 'the output' },
  { prefix: 'tool-output-property', area: 'tools', noun: 'the output property `{path}`' },
)

/** A JSON Schema that is published on its own: documents are written and read by it. */
export const SCHEMA_DOCUMENT = sitePair(
  'shared',
  'schema',
  { prefix: 'schema', area: 'json schema', noun: 'the document' },
  { prefix: 'schema-property', area: 'json schema', noun: 'the property `{path}`' },
)

/** The objects of a Kubernetes resource: clients write them, the API server stores them, controllers read them. */
export const CRD_OBJECT = sitePair(
  'shared',
  'crd',
  { prefix: 'crd-schema', area: 'kubernetes', noun: 'the object' },
  { prefix: 'crd-property', area: 'kubernetes', noun: 'the property `{path}`' },
)

/** Messages that an AsyncAPI application sends, and those that it receives. */
export const SENT_PAYLOAD = sitePair(
  'response',
  'sent-message',
  { prefix: 'sent-payload', area: 'messages', noun: 'the payload' },
  { prefix: 'sent-message-property', area: 'messages', noun: 'the property `{path}`' },
)

export const SENT_HEADERS = sitePair(
  'response',
  'sent-header',
  { prefix: 'sent-headers', area: 'messages', noun: 'the headers' },
  { prefix: 'sent-header-property', area: 'messages', noun: 'the header `{path}`' },
)

export const RECEIVED_PAYLOAD = sitePair(
  'request',
  'received-message',
  { prefix: 'received-payload', area: 'messages', noun: 'the payload' },
  { prefix: 'received-message-property', area: 'messages', noun: 'the property `{path}`' },
)

export const RECEIVED_HEADERS = sitePair(
  'request',
  'received-header',
  { prefix: 'received-headers', area: 'messages', noun: 'the headers' },
  { prefix: 'received-header-property', area: 'messages', noun: 'the header `{path}`' },
)
