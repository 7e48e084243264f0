/** Documents of Kubernetes, of JSON Schema and of several formats written in two ways that mean the same. */
import { dump } from 'js-yaml'
import { checkRewrites, type Written } from './run.ts'

type Json = Readonly<Record<string, unknown>>

const written = (document: unknown, files: Json = {}): Written => ({ document, files })
const T = { type: 'string' }
const SCHEMA = {
  type: 'object',
  required: ['spec'],
  properties: { spec: { type: 'object', properties: { a: T, n: { type: 'integer', minimum: 1 } } } },
}
const VERSION = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: SCHEMA } }
const OLD = { ...VERSION, name: 'v1beta1', storage: false }
const crd = (spec: Json = {}, api = 'v1', kind = 'Thing'): Json => ({
  apiVersion: `apiextensions.k8s.io/${api}`,
  kind: 'CustomResourceDefinition',
  metadata: { name: `${kind.toLowerCase()}s.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind, plural: `${kind.toLowerCase()}s` },
    versions: [VERSION],
    ...spec,
  },
})
const OTHER = crd({}, 'v1', 'Other')
/** As v1beta1 writes it: one version, and what holds for all versions. */
const BETA = {
  group: 'example.com',
  scope: 'Namespaced',
  names: { kind: 'Thing', plural: 'things' },
  preserveUnknownFields: false,
  version: 'v1',
  validation: VERSION.schema,
}

checkRewrites('CRD', 'k8s_crd', [
  ['JSON and YAML', written(crd()), written(dump(crd()))],
  [
    'two documents in another order',
    written(`${dump(crd())}---\n${dump(OTHER)}`),
    written(`${dump(OTHER)}---\n${dump(crd())}`),
  ],
  [
    'two documents, and a list',
    written(`${dump(crd())}---\n${dump(OTHER)}`),
    written({ apiVersion: 'v1', kind: 'List', items: [crd(), OTHER] }),
  ],
  ['an empty document', written(dump(crd())), written(`---\n# nothing\n---\n${dump(crd())}`)],
  [
    'names that the API server fills in',
    written(crd()),
    written(crd({ names: { kind: 'Thing', plural: 'things', singular: 'thing', listKind: 'ThingList' } })),
  ],
  ['versions in another order', written(crd({ versions: [VERSION, OLD] })), written(crd({ versions: [OLD, VERSION] }))],
  ['no conversion, and the default', written(crd()), written(crd({ conversion: { strategy: 'None' } }))],
  ['the default of unknown fields', written(crd()), written(crd({ preserveUnknownFields: false }))],
  ['v1beta1 and v1', written({ ...crd({}, 'v1beta1'), spec: BETA }), written(crd())],
  [
    'a default list type',
    written(
      crd({
        versions: [
          {
            ...VERSION,
            schema: { openAPIV3Schema: { type: 'object', properties: { l: { type: 'array', items: T } } } },
          },
        ],
      }),
    ),
    written(
      crd({
        versions: [
          {
            ...VERSION,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: { l: { type: 'array', items: T, 'x-kubernetes-list-type': 'atomic' } },
              },
            },
          },
        ],
      }),
    ),
  ],
  [
    'labels and annotations',
    written(crd()),
    written({
      ...crd(),
      metadata: {
        name: 'things.example.com',
        labels: { a: 'b' },
        annotations: { 'controller-gen.kubebuilder.io/version': 'v1' },
      },
    }),
  ],
])

const DRAFT = 'https://json-schema.org/draft/2020-12/schema'
const PET = { type: 'object', required: ['name'], properties: { name: T, age: { type: 'integer' } } }
const owner = (pet: Json, rest: Json = {}): Json => ({ $schema: DRAFT, type: 'object', properties: { pet }, ...rest })

/** Other documents may refer to a definition. */
const REFERRED = ['schema-definition-removed']

checkRewrites('JSON Schema', 'json_schema', [
  ['JSON and YAML', written(owner(PET)), written(dump(owner(PET)))],
  [
    'in place, and in $defs',
    written(owner(PET)),
    written(owner({ $ref: '#/$defs/Pet' }, { $defs: { Pet: PET } })),
    REFERRED,
  ],
  ['in another file', written(owner(PET)), written(owner({ $ref: 'pet.json' }), { 'pet.json': PET })],
  [
    'by an anchor',
    written(owner(PET)),
    written(owner({ $ref: '#pet' }, { $defs: { Pet: { $anchor: 'pet', ...PET } } })),
    REFERRED,
  ],
  [
    'by an address',
    written(owner(PET)),
    written(owner({ $ref: 'https://a.example/pet' }, { $defs: { Pet: { $id: 'https://a.example/pet', ...PET } } })),
    REFERRED,
  ],
  [
    'a base address',
    written(owner(PET)),
    written(owner({ $ref: 'pet' }, { $id: 'https://a.example/owner', $defs: { Pet: { $id: 'pet', ...PET } } })),
    [...REFERRED, 'schema-id-changed'],
  ],
  [
    'definitions and $defs',
    written(owner({ $ref: '#/definitions/Pet' }, { definitions: { Pet: PET } })),
    written(owner({ $ref: '#/$defs/Pet' }, { $defs: { Pet: PET } })),
  ],
  [
    'titles, examples and comments',
    written(owner(PET)),
    written(owner({ ...PET, title: 't', $comment: 'c', examples: [{ name: 'a' }] })),
  ],
  ['a draft in another spelling', written(owner(PET)), written(owner(PET, { $schema: `${DRAFT}#` }))],
])

const API = `
openapi: 3.1.0
info: { title: t, version: "1" }
paths:
  /a:
    get: { responses: { "200": { description: d, content: { application/json: { schema: { type: object, properties: { a: { type: string }, b: { type: integer } } } } } } } }
  /b:
    get: { responses: { "200": { description: d, content: { application/json: { schema: { type: object, properties: { a: { type: string }, b: { type: integer } } } } } } } }
`
const ANCHORED = `
# A comment.
"openapi": '3.1.0'
info:
  title: >-
    t
  version: "1"
paths:
  /a:
    get: &get
      responses:
        "200": &ok
          description: d
          content:
            application/json:
              schema:
                type: object
                properties:
                  a: { type: string }
                  b: { type: integer }
  /b:
    get:
      responses:
        "200": *ok
`

checkRewrites('YAML', 'openapi', [
  ['anchors and their aliases', written(API), written(ANCHORED)],
  [
    'an alias of an operation',
    written(API),
    written(ANCHORED.replace(/ {4}get:\n {6}responses:\n {8}"200": \*ok/, '    get: *get')),
  ],
  ['line ends of Windows', written(API), written(API.replaceAll('\n', '\r\n'))],
  ['a mark of byte order', written(API), written(`\uFEFF${API}`)],
  ['the marks of a document', written(API), written(`%YAML 1.2\n---${API}...\n`)],
])
