/** The members of a custom resource definition (apiextensions.k8s.io/v1): what the change of each one is at the worst. */
import { checkMembers } from './run.ts'

const GRAMMAR = `
definition: apiVersion kind metadata=metadata spec=spec status
metadata: name labels annotations
spec: group scope names=names versions=version[] conversion=conversion preserveUnknownFields
names: plural singular kind listKind shortNames categories
version: name served storage deprecated deprecationWarning schema=validation subresources=subresources additionalPrinterColumns=column[] selectableFields=field[]
validation: openAPIV3Schema=schema
subresources: status scale=scale
scale: specReplicasPath statusReplicasPath labelSelectorPath
column: name type format description priority jsonPath
field: jsonPath
conversion: strategy webhook=webhook
webhook: conversionReviewVersions clientConfig=client
client: url service=service caBundle
service: name namespace path port
schema: type properties=schema{} items=schema additionalProperties required enum default nullable example description format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern minItems maxItems minProperties maxProperties allOf anyOf oneOf not x-kubernetes-preserve-unknown-fields x-kubernetes-embedded-resource x-kubernetes-int-or-string x-kubernetes-list-type x-kubernetes-list-map-keys x-kubernetes-map-type x-kubernetes-validations=rule[]
rule: rule message messageExpression reason fieldPath optionalOldSelf
`

const T = { type: 'string' }
const N = { type: 'integer' }
const DOCUMENT = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com', labels: { a: 'b' }, annotations: { 'api-approved.kubernetes.io': 'x' } },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    preserveUnknownFields: false,
    names: {
      plural: 'things',
      singular: 'thing',
      kind: 'Thing',
      listKind: 'ThingList',
      shortNames: ['th'],
      categories: ['all'],
    },
    conversion: {
      strategy: 'Webhook',
      webhook: {
        conversionReviewVersions: ['v1'],
        clientConfig: {
          url: 'https://h',
          caBundle: 'YQ==',
          service: { name: 'n', namespace: 'ns', path: '/p', port: 443 },
        },
      },
    },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        deprecated: false,
        deprecationWarning: 'w',
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.replicas',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector',
          },
        },
        additionalPrinterColumns: [
          {
            name: 'Age',
            type: 'date',
            format: 'date',
            description: 'd',
            priority: 0,
            jsonPath: '.metadata.creationTimestamp',
          },
        ],
        selectableFields: [{ jsonPath: '.spec.a' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              apiVersion: T,
              kind: T,
              metadata: {
                type: 'object',
                properties: {
                  name: { type: 'string', maxLength: 9, pattern: '^a' },
                  generateName: { type: 'string', maxLength: 5 },
                },
              },
              spec: {
                type: 'object',
                required: ['a'],
                description: 'd',
                properties: {
                  a: { type: 'string', default: 'x', enum: ['x', 'y'], nullable: true, example: 'x', format: 'date' },
                  n: {
                    type: 'integer',
                    minimum: 2,
                    maximum: 8,
                    exclusiveMinimum: true,
                    exclusiveMaximum: true,
                    multipleOf: 2,
                    format: 'int32',
                  },
                  s: { type: 'string', maxLength: 9, minLength: 1, pattern: '^a' },
                  l: {
                    type: 'array',
                    items: { type: 'object', required: ['k'], properties: { k: T } },
                    maxItems: 9,
                    minItems: 1,
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['k'],
                  },
                  u: { type: 'array', items: T, 'x-kubernetes-list-type': 'set' },
                  m: {
                    type: 'object',
                    additionalProperties: N,
                    maxProperties: 9,
                    minProperties: 1,
                    'x-kubernetes-map-type': 'atomic',
                  },
                  e: {
                    type: 'object',
                    'x-kubernetes-embedded-resource': true,
                    'x-kubernetes-preserve-unknown-fields': true,
                  },
                  i: { 'x-kubernetes-int-or-string': true },
                  c: {
                    type: 'object',
                    properties: { p: T },
                    anyOf: [{ required: ['p'] }, { required: ['q'] }],
                    allOf: [{ maxProperties: 3 }],
                    oneOf: [{ required: ['p'] }],
                    not: { required: ['zz'] },
                  },
                  r: N,
                },
                'x-kubernetes-validations': [
                  {
                    rule: 'self.a != "z" || oldSelf.a == "z"',
                    message: 'm',
                    messageExpression: '"m"',
                    reason: 'FieldValueInvalid',
                    fieldPath: '.a',
                    optionalOldSelf: false,
                  },
                ],
              },
              status: { type: 'object', properties: { replicas: N, selector: T } },
            },
          },
        },
      },
      {
        name: 'v2',
        served: true,
        storage: false,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
  status: { acceptedNames: { plural: 'things', kind: 'Thing' }, conditions: [], storedVersions: ['v1'] },
}

const COLUMN = 'It is what `kubectl get` prints.'
const REFUSAL = 'What is refused stays so. The answer has another text, place or reason.'

checkMembers('Custom resource definitions', {
  type: 'k8s_crd',
  grammar: GRAMMAR,
  document: DOCUMENT,
  silent: {
    'definition.status': 'The API server writes it.',
    'metadata.annotations': 'They do not describe the custom objects.',
    'metadata.labels': 'They do not describe the custom objects.',
    'schema.description': 'It is for people.',
    'schema.example': 'It is for people.',
    'version.deprecationWarning': 'The text of a warning that clients print.',
  },
  harmless: {
    'client.caBundle': 'a cluster issues the certificates, and renews them',
    'column.description': COLUMN,
    'column.format': COLUMN,
    'column.jsonPath': COLUMN,
    'column.name': COLUMN,
    'column.priority': COLUMN,
    'column.type': COLUMN,
    'rule.fieldPath': REFUSAL,
    'rule.message': REFUSAL,
    'rule.messageExpression': REFUSAL,
    'rule.reason': REFUSAL,
    'version.additionalPrinterColumns': COLUMN,
    'version.deprecated': 'The version is still served.',
  },
})
