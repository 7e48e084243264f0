/** The forms of path items that the differential run changes into each other: everything of an operation but its schemas. */

export interface OperationGroup {
  readonly name: string
  readonly forms: Readonly<Record<string, unknown>>
}

const DONE = { 200: { description: 'done' } }
const text = { type: 'string' }

function operation(members: object): object {
  return { get: { responses: DONE, ...members } }
}

function group(name: string, members: Readonly<Record<string, object>>): OperationGroup {
  return {
    name,
    forms: Object.fromEntries(Object.entries(members).map(([form, value]) => [form, operation(value)])),
  }
}

/** Forms of one operation beside another one, which keeps the path when the first one goes. */
function beside(members: Readonly<Record<string, object>>): Readonly<Record<string, object>> {
  const items = Object.entries(members).map(([form, value]) => [
    form,
    { post: { responses: DONE }, ...operation(value) },
  ])
  return Object.fromEntries(items)
}

function parameters(name: string, lists: Readonly<Record<string, readonly object[]>>): OperationGroup {
  return group(name, Object.fromEntries(Object.entries(lists).map(([form, list]) => [form, { parameters: list }])))
}

function responses(name: string, lists: Readonly<Record<string, object>>): OperationGroup {
  return group(name, Object.fromEntries(Object.entries(lists).map(([form, list]) => [form, { responses: list }])))
}

function body(name: string, forms: Readonly<Record<string, object | null>>): OperationGroup {
  const items = Object.entries(forms).map(([form, value]) => [
    form,
    { post: { responses: DONE, ...(value === null ? {} : { requestBody: value }) } },
  ])
  return { name, forms: Object.fromEntries(items) }
}

function query(more: object): object {
  return { name: 'q', in: 'query', schema: text, ...more }
}

function list(more: object): object {
  return { name: 'q', in: 'query', schema: { type: 'array', items: text }, ...more }
}

const json = { 'application/json': { schema: { type: 'object' } } }
const xml = { 'application/xml': { schema: { type: 'object' } } }

function response(members: object): object {
  return { 200: { description: 'done', ...members } }
}

function media(...names: readonly string[]): object {
  return { content: Object.fromEntries(names.map((name) => [name, { schema: { type: 'object' } }])) }
}

export const OPERATION_GROUPS: readonly OperationGroup[] = [
  parameters('parameter', {
    none: [],
    optional: [query({})],
    required: [query({ required: true })],
    'with default': [query({ schema: { type: 'string', default: 'a' } })],
    'required with default': [query({ required: true, schema: { type: 'string', default: 'b' } })],
    'other name': [query({ name: 'r' })],
    'in header': [query({ in: 'header' })],
    'in cookie': [query({ in: 'cookie' })],
    'required in cookie': [query({ in: 'cookie', required: true })],
    'empty allowed': [query({ allowEmptyValue: true })],
  }),
  parameters('header parameter', {
    none: [],
    lower: [{ name: 'x-a', in: 'header', schema: text }],
    upper: [{ name: 'X-A', in: 'header', schema: text }],
    required: [{ name: 'X-A', in: 'header', required: true, schema: text }],
    accept: [{ name: 'Accept', in: 'header', schema: text }],
    authorization: [{ name: 'Authorization', in: 'header', required: true, schema: text }],
  }),
  parameters('parameter life', {
    none: [],
    plain: [query({})],
    deprecated: [query({ deprecated: true })],
    'sunset far': [query({ deprecated: true, 'x-sunset': '2999-01-01' })],
    'sunset farther': [query({ deprecated: true, 'x-sunset': '2999-02-01' })],
    'sunset past': [query({ deprecated: true, 'x-sunset': '2001-01-01' })],
    'sunset no date': [query({ deprecated: true, 'x-sunset': 'soon' })],
    'alpha, deprecated': [query({ deprecated: true, 'x-stability-level': 'alpha' })],
  }),
  parameters('style', {
    plain: [list({})],
    form: [list({ style: 'form' })],
    'not exploded': [list({ explode: false })],
    spaces: [list({ style: 'spaceDelimited', explode: false })],
    pipes: [list({ style: 'pipeDelimited' })],
    content: [{ name: 'q', in: 'query', content: { 'application/json': { schema: { type: 'array', items: text } } } }],
    'content xml': [
      { name: 'q', in: 'query', content: { 'application/xml': { schema: { type: 'array', items: text } } } },
    ],
    reserved: [list({ allowReserved: true })],
  }),
  {
    name: 'parameter of the path',
    forms: {
      none: operation({}),
      'of the operation': operation({ parameters: [query({})] }),
      'of the path': { ...operation({}), parameters: [query({})] },
      'required of the path': { ...operation({}), parameters: [query({ required: true })] },
      'of both': { ...operation({ parameters: [query({ required: true })] }), parameters: [query({})] },
    },
  },
  {
    name: 'methods',
    forms: {
      get: { get: { responses: DONE } },
      'get post': { get: { responses: DONE }, post: { responses: DONE } },
      post: { post: { responses: DONE } },
      'get head options': { get: { responses: DONE }, head: { responses: DONE }, options: { responses: DONE } },
      'get patch put delete trace': {
        get: { responses: DONE },
        patch: { responses: DONE },
        put: { responses: DONE },
        delete: { responses: DONE },
        trace: { responses: DONE },
      },
    },
  },
  group('life', {
    plain: {},
    deprecated: { deprecated: true },
    'sunset far': { deprecated: true, 'x-sunset': '2999-01-01' },
    'sunset farther': { deprecated: true, 'x-sunset': '2999-02-01' },
    'sunset past': { deprecated: true, 'x-sunset': '2001-01-01' },
    'sunset past too': { deprecated: true, 'x-sunset': '2001-02-01' },
    'sunset time': { deprecated: true, 'x-sunset': '2999-01-01T00:00:00Z' },
    'sunset no date': { deprecated: true, 'x-sunset': 'soon' },
    'sunset without deprecation': { 'x-sunset': '2999-01-01' },
    'deprecated false': { deprecated: false },
  }),
  {
    name: 'life and removal',
    forms: {
      ...beside({
        plain: {},
        deprecated: { deprecated: true },
        'sunset far': { deprecated: true, 'x-sunset': '2999-01-01' },
        'sunset past': { deprecated: true, 'x-sunset': '2001-01-01' },
        'sunset no date': { deprecated: true, 'x-sunset': 'soon' },
        alpha: { 'x-stability-level': 'alpha' },
        draft: { 'x-stability-level': 'draft' },
        beta: { 'x-stability-level': 'beta' },
        stable: { 'x-stability-level': 'stable' },
        odd: { 'x-stability-level': 'odd' },
        'beta, deprecated': { deprecated: true, 'x-stability-level': 'beta' },
        'alpha, sunset far': { deprecated: true, 'x-stability-level': 'alpha', 'x-sunset': '2999-01-01' },
      }),
      gone: { post: { responses: DONE } },
    },
  },
  group('stability', {
    none: {},
    draft: { 'x-stability-level': 'draft' },
    alpha: { 'x-stability-level': 'alpha' },
    beta: { 'x-stability-level': 'beta' },
    stable: { 'x-stability-level': 'stable' },
    odd: { 'x-stability-level': 'odd' },
    'alpha with parameter': { 'x-stability-level': 'alpha', parameters: [query({ required: true })] },
    'beta with parameter': { 'x-stability-level': 'beta', parameters: [query({ required: true })] },
    'with parameter': { parameters: [query({ required: true })] },
  }),
  group('tags', {
    none: {},
    a: { tags: ['a'] },
    'a b': { tags: ['a', 'b'] },
    'b a': { tags: ['b', 'a'] },
    empty: { tags: [] },
  }),
  group('words', { none: {}, summary: { summary: 'a' }, description: { description: 'b' }, extension: { 'x-a': 1 } }),
  group('security', {
    none: {},
    empty: { security: [] },
    key: { security: [{ key: [] }] },
    other: { security: [{ other: [] }] },
    'key or other': { security: [{ key: [] }, { other: [] }] },
    'other or key': { security: [{ other: [] }, { key: [] }] },
    'key and other': { security: [{ key: [], other: [] }] },
    'key or nothing': { security: [{ key: [] }, {}] },
    nothing: { security: [{}] },
    read: { security: [{ oauth: ['read'] }] },
    'read write': { security: [{ oauth: ['read', 'write'] }] },
    write: { security: [{ oauth: ['write'] }] },
    'read or write': { security: [{ oauth: ['read'] }, { oauth: ['write'] }] },
  }),
  body('body', {
    none: null,
    optional: { content: json },
    required: { required: true, content: json },
    'not required': { required: false, content: json },
    'xml too': { content: { ...json, ...xml } },
    'xml only': { content: xml },
    'no schema': { content: { 'application/json': {} } },
    'no content': { content: {} },
    range: { content: { 'application/*': { schema: { type: 'object' } } } },
    any: { content: { '*/*': { schema: { type: 'object' } } } },
    'problem json': { content: { 'application/problem+json': { schema: { type: 'object' } } } },
    'with charset': { content: { 'application/json; charset=utf-8': { schema: { type: 'object' } } } },
    'with version': { content: { 'application/json; version=1': { schema: { type: 'object' } } } },
  }),
  body('encoding', {
    none: { content: { 'multipart/form-data': { schema: { type: 'object', properties: { f: text } } } } },
    png: {
      content: {
        'multipart/form-data': {
          schema: { type: 'object', properties: { f: text } },
          encoding: { f: { contentType: 'image/png' } },
        },
      },
    },
    deep: {
      content: {
        'multipart/form-data': {
          schema: { type: 'object', properties: { f: text } },
          encoding: { f: { style: 'deepObject', explode: true } },
        },
      },
    },
  }),
  responses('status', {
    200: DONE,
    201: { 201: { description: 'made' } },
    '200 201': { ...DONE, 201: { description: 'made' } },
    '200 404': { ...DONE, 404: { description: 'not there' } },
    '200 404 500': { ...DONE, 404: { description: 'not there' }, 500: { description: 'fault' } },
    '200 default': { ...DONE, default: { description: 'else' } },
    default: { default: { description: 'else' } },
    '2XX': { '2XX': { description: 'fine' } },
    '200 4XX': { ...DONE, '4XX': { description: 'yours' } },
    '200 302': { ...DONE, 302: { description: 'elsewhere' } },
    '200 100': { ...DONE, 100: { description: 'go on' } },
    'other words': { 200: { description: 'other words' } },
  }),
  responses('default response', {
    none: DONE,
    string: { ...DONE, default: { description: 'else', content: { 'application/json': { schema: text } } } },
    integer: {
      ...DONE,
      default: { description: 'else', content: { 'application/json': { schema: { type: 'integer' } } } },
    },
  }),
  responses('answers', {
    none: response({}),
    json: response(media('application/json')),
    xml: response(media('application/xml')),
    both: response(media('application/json', 'application/xml')),
    empty: response({ content: {} }),
    'no schema': response({ content: { 'application/json': {} } }),
    range: response(media('application/*')),
    any: response(media('*/*')),
    'problem json': response(media('application/problem+json')),
    vendor: response(media('application/vnd.a+json')),
    'other vendor': response(media('application/vnd.b+json')),
    charset: response(media('application/json; charset=utf-8')),
    'charset close': response(media('application/json;charset=utf-8')),
    version: response(media('application/json; version=1')),
    'version 2': response(media('application/json; version=2')),
    upper: response(media('Application/JSON')),
  }),
  responses('headers', {
    none: response({}),
    optional: response({ headers: { 'X-A': { schema: text } } }),
    lower: response({ headers: { 'x-a': { schema: text } } }),
    required: response({ headers: { 'X-A': { required: true, schema: text } } }),
    two: response({ headers: { 'X-A': { schema: text }, 'X-B': { schema: text } } }),
    deprecated: response({ headers: { 'X-A': { deprecated: true, schema: text } } }),
    integer: response({ headers: { 'X-A': { schema: { type: 'integer' } } } }),
    content: response({ headers: { 'X-A': { content: { 'text/plain': { schema: text } } } } }),
    'content type': response({ headers: { 'Content-Type': { schema: text } } }),
  }),
  responses('links', {
    none: response({}),
    a: response({ links: { a: { operationRef: '#/paths/~1x/get' } } }),
    'a elsewhere': response({ links: { a: { operationRef: '#/paths/~1y/get' } } }),
    b: response({ links: { b: { operationRef: '#/paths/~1x/get' } } }),
  }),
  group('callbacks', {
    none: {},
    a: { callbacks: { a: { '{$request.body#/url}': { post: { responses: DONE } } } } },
    'a with body': {
      callbacks: { a: { '{$request.body#/url}': { post: { requestBody: { content: json }, responses: DONE } } } },
    },
    b: { callbacks: { b: { '{$request.body#/url}': { post: { responses: DONE } } } } },
  }),
  group('servers', {
    none: {},
    a: { servers: [{ url: 'https://a.example' }] },
    b: { servers: [{ url: 'https://b.example' }] },
    'a b': { servers: [{ url: 'https://a.example' }, { url: 'https://b.example' }] },
  }),
]
