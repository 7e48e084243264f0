/**
 * OpenAPI written in two ways that mean the same: order, place, reference or inline. It is one table, so that a rewrite which
 * is missing can be seen.
 */
import { dump } from 'js-yaml'
import {
  BODY,
  EU,
  EVENT,
  FAULT,
  ID,
  KEY,
  LIMIT,
  OAUTH,
  OK,
  SCHEMES,
  T,
  THING,
  TRACE,
  US,
  WHOLE,
  api,
  file,
  get,
  listed,
  post,
  ref,
  sent,
  withFiles,
} from './openapi.ts'
import { checkRewrites } from './run.ts'

checkRewrites('OpenAPI', 'openapi', [
  ['servers in another order', listed(EU, US), listed(US, EU)],
  [
    'a server of all, and of the path',
    listed(EU),
    api({
      paths: { '/things': { servers: [EU], post: { requestBody: BODY, responses: { 200: OK, default: FAULT } } } },
    }),
  ],
  ['a server of all, and of the operation', listed(EU), post({ servers: [EU] })],
  [
    'a variable of a server that has one value',
    listed(EU),
    listed({ url: 'https://{r}.example/v1', variables: { r: { enum: ['eu'], default: 'eu' } } }),
  ],
  ['the case of a host', listed(EU), listed({ url: 'HTTPS://EU.example/v1' })],
  ['a final slash of a server', listed(EU), listed({ url: 'https://eu.example/v1/' })],
  ['the default port of a server', listed(EU), listed({ url: 'https://eu.example:443/v1' })],
  ['no server, and the root', post({}), listed({ url: '/' })],
  [
    'a prefix of the server that moves to the paths',
    listed(EU),
    api({
      servers: [{ url: 'https://eu.example' }],
      paths: { '/v1/things': { post: { requestBody: BODY, responses: { 200: OK, default: FAULT } } } },
    }),
  ],
  ['tags in another order', { document: WHOLE }, { document: { ...WHOLE, tags: WHOLE.tags.toReversed() } }],
  ['parameters in another order', get({ parameters: [ID, LIMIT, TRACE] }), get({ parameters: [TRACE, LIMIT, ID] })],
  [
    'parameters of the operation, and of the path',
    get({ parameters: [ID, LIMIT] }),
    get({ parameters: [LIMIT] }, { parameters: [ID] }),
  ],
  [
    'parameters of the path that the operation replaces',
    get({ parameters: [ID, LIMIT] }),
    get({ parameters: [ID, LIMIT] }, { parameters: [{ ...LIMIT, required: true }] }),
  ],
  [
    'a parameter in place, and a component',
    get({ parameters: [ID, LIMIT] }),
    get({ parameters: [ID, ref('parameters/L')] }, {}, { components: { parameters: { L: LIMIT } } }),
  ],
  [
    'a parameter in another file',
    get({ parameters: [ID, LIMIT] }),
    withFiles(get({ parameters: [ID, file('L')] }), { 'parts.json': { L: LIMIT } }),
  ],
  [
    'the schema of a parameter, and a component',
    get({ parameters: [ID, LIMIT] }),
    get(
      { parameters: [ID, { ...LIMIT, schema: ref('schemas/L') }] },
      {},
      { components: { schemas: { L: LIMIT.schema } } },
    ),
  ],
  [
    'style and explode written out',
    get({ parameters: [ID, LIMIT, TRACE] }),
    get({
      parameters: [
        { ...ID, style: 'simple', explode: false },
        { ...LIMIT, style: 'form', explode: true, required: false, allowReserved: false, allowEmptyValue: false },
        { ...TRACE, style: 'simple', explode: false },
      ],
    }),
  ],
  [
    'explode of a plain value',
    get({ parameters: [ID, LIMIT] }),
    get({ parameters: [ID, { ...LIMIT, explode: false }] }),
  ],
  [
    'a header parameter that contracts ignore',
    get({}),
    get({ parameters: [ID, { name: 'Accept', in: 'header', required: true, schema: T }] }),
  ],
  [
    'another name in a path',
    get({}),
    api({ paths: { '/things/{thing}': { get: { parameters: [{ ...ID, name: 'thing' }], responses: { 200: OK } } } } }),
  ],
  [
    'security of all, and of each operation',
    post({}, { security: [{ key: [] }], components: SCHEMES }),
    post({ security: [{ key: [] }] }, { components: SCHEMES }),
  ],
  [
    'alternatives of security in another order',
    post({ security: [{ key: [] }, { oauth: ['r', 'w'] }] }, { components: SCHEMES }),
    post({ security: [{ oauth: ['w', 'r'] }, { key: [] }] }, { components: SCHEMES }),
  ],
  [
    'schemes that are required together in another order',
    post({ security: [{ key: [], oauth: [] }] }, { components: SCHEMES }),
    post({ security: [{ oauth: [], key: [] }] }, { components: SCHEMES }),
  ],
  [
    'another name of a security scheme',
    post({ security: [{ key: [] }] }, { components: SCHEMES }),
    post({ security: [{ api: [] }] }, { components: { securitySchemes: { api: KEY, oauth: OAUTH } } }),
  ],
  [
    'another name of an OAuth scheme',
    post({ security: [{ oauth: ['r'] }] }, { components: SCHEMES }),
    post({ security: [{ auth: ['r'] }] }, { components: { securitySchemes: { auth: OAUTH } } }),
  ],
  [
    'a scheme in another file',
    post({ security: [{ key: [] }] }, { components: SCHEMES }),
    withFiles(
      post({ security: [{ key: [] }] }, { components: { securitySchemes: { key: file('K'), oauth: OAUTH } } }),
      { 'parts.json': { K: KEY } },
    ),
  ],
  [
    'no security, an empty list and an empty requirement',
    post(
      {},
      {
        security: [{ key: [] }],
        components: SCHEMES,
        paths: { '/a': { get: { responses: { 200: OK } } }, '/b': { get: { security: [], responses: { 200: OK } } } },
      },
    ),
    post(
      {},
      {
        security: [{ key: [] }],
        components: SCHEMES,
        paths: {
          '/a': { get: { security: [{ key: [] }], responses: { 200: OK } } },
          '/b': { get: { security: [{}], responses: { 200: OK } } },
        },
      },
    ),
  ],
  [
    'a response in place, and a component',
    post({}),
    post({ responses: { 200: ref('responses/R'), default: FAULT } }, { components: { responses: { R: OK } } }),
  ],
  [
    'a response in another file',
    post({}),
    withFiles(post({ responses: { 200: file('R'), default: FAULT } }), { 'parts.json': { R: OK } }),
  ],
  [
    'a reference with a description',
    post({ responses: { 200: ref('responses/R') } }, { components: { responses: { R: OK } } }),
    post(
      { responses: { 200: { ...ref('responses/R'), description: 'e', summary: 's' } } },
      { components: { responses: { R: OK } } },
    ),
  ],
  [
    'a header in place, and a component',
    post({}),
    post(
      { responses: { 200: { ...OK, headers: { 'X-A': ref('headers/A') } }, default: FAULT } },
      { components: { headers: { A: { schema: T } } } },
    ),
  ],
  [
    'the case of a response header',
    post({}),
    post({ responses: { 200: { ...OK, headers: { 'x-a': { schema: T } } }, default: FAULT } }),
  ],
  [
    'a header Content-Type, which contracts ignore',
    post({}),
    post({
      responses: {
        200: { ...OK, headers: { ...OK.headers, 'Content-Type': { schema: { const: 'a/b' } } } },
        default: FAULT,
      },
    }),
  ],
  [
    'a body in place, and a component',
    post({}),
    post({ requestBody: ref('requestBodies/B') }, { components: { requestBodies: { B: BODY } } }),
  ],
  ['a body in another file', post({}), withFiles(post({ requestBody: file('B') }), { 'parts.json': { B: BODY } })],
  [
    'a schema in another file',
    post({}),
    withFiles(post({ requestBody: { required: true, content: { 'application/json': { schema: file('T') } } } }), {
      'parts.json': { T: THING },
    }),
  ],
  [
    'a schema that is a file',
    post({}),
    withFiles(
      post({ requestBody: { required: true, content: { 'application/json': { schema: { $ref: './thing.json' } } } } }),
      { 'thing.json': THING },
    ),
  ],
  [
    'the case of a media type',
    post({}),
    post({ requestBody: { required: true, content: { 'Application/JSON': { schema: THING } } } }),
  ],
  [
    'a path item in place, and a component',
    get({}),
    api({
      paths: { '/things/{id}': ref('pathItems/P') },
      components: { pathItems: { P: { get: { parameters: [ID], responses: { 200: OK } } } } },
    }),
  ],
  [
    'a path item in another file',
    get({}),
    withFiles(api({ paths: { '/things/{id}': file('P') } }), {
      'parts.json': { P: { get: { parameters: [ID], responses: { 200: OK } } } },
    }),
  ],
  [
    'a path item behind a reference, and parameters beside it',
    get({ parameters: [ID, LIMIT] }),
    api({
      paths: { '/things/{id}': { ...ref('pathItems/P'), parameters: [ID, LIMIT] } },
      components: { pathItems: { P: { get: { responses: { 200: OK } } } } },
    }),
  ],
  [
    'two paths of one item',
    api({ paths: { '/a': { get: { responses: { 200: OK } } }, '/b': { get: { responses: { 200: OK } } } } }),
    api({ paths: { '/a': { get: { responses: { 200: OK } } }, '/b': { $ref: '#/paths/~1a' } } }),
  ],
  [
    'a webhook in place, and a component',
    api({ webhooks: { w: EVENT } }),
    api({ webhooks: { w: ref('pathItems/W') }, components: { pathItems: { W: EVENT } } }),
  ],
  [
    'a webhook in another file',
    api({ webhooks: { w: EVENT } }),
    withFiles(api({ webhooks: { w: file('W') } }), { 'parts.json': { W: EVENT } }),
  ],
  [
    'a callback in place, and a component',
    post({ callbacks: { c: { '{$request.body#/id}': EVENT } } }),
    post(
      { callbacks: { c: ref('callbacks/C') } },
      { components: { callbacks: { C: { '{$request.body#/id}': EVENT } } } },
    ),
  ],
  [
    'another name of a callback',
    post({ callbacks: { c: { '{$request.body#/id}': EVENT } } }),
    post({ callbacks: { other: { '{$request.body#/id}': EVENT } } }),
  ],
  [
    'a link in place, and a component',
    post({ responses: { 200: { ...OK, links: { l: { operationId: 'o' } } } }, operationId: 'o' }),
    post(
      { responses: { 200: { ...OK, links: { l: ref('links/L') } } }, operationId: 'o' },
      { components: { links: { L: { operationId: 'o' } } } },
    ),
  ],
  [
    'a link by the id, and by the place of an operation',
    post({ responses: { 200: { ...OK, links: { l: { operationId: 'o' } } } }, operationId: 'o' }),
    post({ responses: { 200: { ...OK, links: { l: { operationRef: '#/paths/~1things/post' } } } }, operationId: 'o' }),
  ],
  [
    'components that nobody uses',
    post({}),
    post({}, { components: { schemas: { X: THING }, responses: { X: OK }, parameters: { X: TRACE } } }),
  ],
  [
    'another name of a component',
    post(
      { requestBody: { required: true, content: { 'application/json': { schema: ref('schemas/A') } } } },
      { components: { schemas: { A: THING } } },
    ),
    post(
      { requestBody: { required: true, content: { 'application/json': { schema: ref('schemas/B') } } } },
      { components: { schemas: { B: THING } } },
    ),
  ],
  [
    'a status as a text and a range of one',
    post({ responses: { 200: OK, '4XX': FAULT } }),
    post({ responses: { '4xx': FAULT, 200: OK } }),
  ],
  ['$self', post({}, {}, '3.2.0'), post({}, { $self: 'https://api.example/openapi.json' }, '3.2.0')],
  [
    'references by $self',
    post(
      { requestBody: ref('requestBodies/B') },
      { $self: 'https://api.example/o.json', components: { requestBodies: { B: BODY } } },
      '3.2.0',
    ),
    post(
      { requestBody: { $ref: 'https://api.example/o.json#/components/requestBodies/B' } },
      { $self: 'https://api.example/o.json', components: { requestBodies: { B: BODY } } },
      '3.2.0',
    ),
  ],
  [
    'the dialect written out',
    post({}),
    post({}, { jsonSchemaDialect: 'https://spec.openapis.org/oas/3.1/dialect/base' }),
  ],
  [
    'a schema with an address of its own',
    sent({ type: 'object', properties: { a: T } }, '3.1.0'),
    sent(
      { $id: 'https://a.example/s', type: 'object', properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: T } },
      '3.1.0',
    ),
  ],
  ['JSON and YAML', { document: WHOLE }, { document: dump(WHOLE) }],
  ['JSON and YAML in flow style', { document: WHOLE }, { document: dump(WHOLE, { flowLevel: 2 }) }],
  ['JSON and indented JSON', { document: WHOLE }, { document: JSON.stringify(WHOLE, null, 2) }],
  ['extensions', { document: WHOLE }, { document: { ...WHOLE, 'x-a': { b: 1 }, info: { ...WHOLE.info, 'x-b': 1 } } }],
  ...(['3.1.0', '3.2.0'] as const).map(
    (version) =>
      [
        `the whole of 3.1.0 as ${version}`,
        { document: WHOLE },
        { document: { ...WHOLE, openapi: version, 'x-v': 1 } },
      ] as const,
  ),
])
