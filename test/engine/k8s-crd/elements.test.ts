/**
 * Every element of a custom resource definition that is no plain schema, with each action, in both directions: what it is at
 * the worst. It is one table, so that an element which is missing can be seen.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { alarmsOf, checkElements, worstOf, type ElementRow } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const TEXT = { type: 'string' }

interface Parts {
  readonly schema?: Json
  readonly version?: Json
  readonly versions?: readonly Json[]
  readonly names?: Json
  readonly spec?: Json
  readonly metadata?: Json
  /** Members of the objects themselves, beside `spec`. */
  readonly object?: Json
}

const V1 = { name: 'v1', served: true, storage: true }

function definition({ schema, version, versions, names, spec, metadata, object }: Parts): Json & { spec: Json } {
  const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', ...schema }, ...object } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com', ...metadata },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList', ...names },
      versions: (versions ?? [{ ...V1, ...version }]).map((one) => ({ schema: { openAPIV3Schema }, ...one })),
      ...spec,
    },
  }
}

const PRESERVE = 'x-kubernetes-preserve-unknown-fields'
const part = (schema: Json): Parts => ({ schema: { properties: { a: schema } } })
const two = (more: Json): Parts => ({ versions: [V1, { name: 'v2', served: true, storage: false, ...more }] })
const webhook = (more: Json, client: Json = {}): Parts => ({
  spec: {
    conversion: {
      strategy: 'Webhook',
      webhook: {
        conversionReviewVersions: ['v1'],
        clientConfig: { service: { name: 'a', namespace: 'b', ...client } },
        ...more,
      },
    },
  },
})
/** Certificates, in a webhook whose service is the same. */
const trusted = (caBundle: string): Parts =>
  webhook({ clientConfig: { service: { name: 'a', namespace: 'b' }, caBundle } })
const WITHIN = { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true }
const filled = (value: Json, inner: Json): Parts =>
  part({ type: 'object', default: value, properties: { b: { type: 'object', ...inner } } })
const FILLED_INNER = { default: {}, properties: { c: { type: 'integer', default: 1 } } }
const column = (...columns: readonly Json[]): Parts => ({ version: { additionalPrinterColumns: columns } })
const COLUMN = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }
const field = (...fields: readonly Json[]): Parts => ({ version: { selectableFields: fields } })
const SCALE = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
const scaled = (more: Json): Parts => ({ version: { subresources: { scale: { ...SCALE, ...more } } } })
const LIST = { type: 'array', items: { type: 'object', properties: { k: TEXT, l: TEXT } } }
const listed = (more: Json): Parts => part({ ...LIST, ...more })
const named = (metadata: Json): Parts => ({ object: { metadata: { type: 'object', ...metadata } } })
const ruled = (...rules: readonly Json[]): Parts => ({ schema: { 'x-kubernetes-validations': rules } })
const RULE = { rule: 'self.a != self.b', message: 'a is not b' }

const ELEMENTS: readonly ElementRow<Parts>[] = [
  ['the group', {}, { spec: { group: 'other.example.com' } }, 'breaking', 'breaking'],
  ['the scope', {}, { spec: { scope: 'Cluster' } }, 'breaking', 'breaking'],
  ['the kind', {}, { names: { kind: 'Item', listKind: 'ThingList' } }, 'breaking', 'breaking'],
  ['the plural', {}, { names: { plural: 'items' } }, 'breaking', 'breaking'],
  ['the singular', {}, { names: { singular: 'item' } }, 'breaking', 'breaking'],
  ['the kind of lists', {}, { names: { listKind: 'Things' } }, 'breaking', 'breaking'],
  ['a short name', {}, { names: { shortNames: ['th'] } }, 'info', 'dangerous'],
  [
    'another short name',
    { names: { shortNames: ['th'] } },
    { names: { shortNames: ['tg'] } },
    'dangerous',
    'dangerous',
  ],
  ['a category', {}, { names: { categories: ['all'] } }, 'info', 'dangerous'],
  ['labels of the definition', {}, { metadata: { labels: { a: 'b' } } }, 'none', 'none'],
  ['annotations of the definition', {}, { metadata: { annotations: { 'example.com/a': 'b' } } }, 'none', 'none'],
  [
    'the approval of a protected group',
    {},
    { metadata: { annotations: { 'api-approved.kubernetes.io': 'https://x' } } },
    'none',
    'none',
  ],

  ['what the API server checks itself', {}, { object: { kind: TEXT, apiVersion: TEXT } }, 'none', 'none'],
  ['the metadata of objects', {}, named({ type: 'object', required: ['name'] }), 'none', 'none'],
  ['a text for their names', {}, named({ properties: { name: TEXT } }), 'none', 'none'],
  ['a pattern for their names', {}, named({ properties: { name: { pattern: '^a' } } }), 'breaking', 'dangerous'],
  ['values for their names', {}, named({ properties: { name: { enum: ['a', 'b'] } } }), 'breaking', 'dangerous'],
  ['a bound for their names', {}, named({ properties: { name: { maxLength: 9 } } }), 'dangerous', 'dangerous'],
  [
    'a bound for generated names',
    {},
    named({ properties: { generateName: { maxLength: 9 } } }),
    'dangerous',
    'dangerous',
  ],
  ['a label that is required', {}, named({ properties: { labels: { required: ['team'] } } }), 'breaking', 'dangerous'],
  ['the only kind', {}, { object: { kind: { type: 'string', enum: ['Thing'] } } }, 'breaking', 'dangerous'],

  ['a version', {}, two({}), 'info', 'breaking'],
  ['the name of a version', {}, { version: { name: 'v2' } }, 'breaking', 'breaking'],
  ['a version that is not served', {}, two({ served: false }), 'info', 'info'],
  ['a version that is served', two({ served: false }), two({}), 'info', 'breaking'],
  [
    'the stored version',
    two({}),
    {
      versions: [
        { ...V1, storage: false },
        { name: 'v2', served: true, storage: true },
      ],
    },
    'dangerous',
    'dangerous',
  ],
  ['a version that is stored', {}, { versions: [{ ...V1, storage: false }] }, 'dangerous', 'dangerous'],
  ['the scope of a definition that states none', {}, { spec: { scope: undefined } }, 'dangerous', 'dangerous'],
  ['a deprecation', {}, { version: { deprecated: true } }, 'info', 'info'],
  [
    'the warning of a deprecation',
    { version: { deprecated: true } },
    { version: { deprecated: true, deprecationWarning: 'use v2' } },
    'none',
    'none',
  ],
  ['the schema of a version', { version: { schema: undefined } }, {}, 'breaking', 'dangerous'],
  ['unknown members of all versions', {}, { spec: { preserveUnknownFields: true } }, 'dangerous', 'breaking'],

  ['a conversion', {}, webhook({}), 'dangerous', 'dangerous'],
  ['the service of a conversion', webhook({}), webhook({}, { name: 'c' }), 'dangerous', 'dangerous'],
  ['the path of a conversion', webhook({}), webhook({}, { path: '/convert' }), 'dangerous', 'dangerous'],
  [
    'the reviews of a conversion',
    webhook({}),
    webhook({ conversionReviewVersions: ['v1', 'v1beta1'] }),
    'dangerous',
    'dangerous',
  ],

  ['the status', {}, { version: { subresources: { status: {} } } }, 'dangerous', 'breaking'],
  ['scaling', {}, scaled({}), 'info', 'breaking'],
  ['where replicas are asked for', scaled({}), scaled({ specReplicasPath: '.spec.count' }), 'dangerous', 'dangerous'],
  ['where replicas are stated', scaled({}), scaled({ statusReplicasPath: '.status.count' }), 'dangerous', 'dangerous'],
  ['the selector of scaling', scaled({}), scaled({ labelSelectorPath: '.status.selector' }), 'dangerous', 'dangerous'],

  ['a column', column(), column(COLUMN), 'info', 'info'],
  ['the path of a column', column(COLUMN), column({ ...COLUMN, jsonPath: '.spec.a' }), 'info', 'info'],
  ['the type of a column', column(COLUMN), column({ ...COLUMN, type: 'string' }), 'info', 'info'],
  ['the format of a column', column(COLUMN), column({ ...COLUMN, format: 'date' }), 'info', 'info'],
  ['the description of a column', column(COLUMN), column({ ...COLUMN, description: 'd' }), 'info', 'info'],
  ['the priority of a column', column(COLUMN), column({ ...COLUMN, priority: 1 }), 'info', 'info'],
  [
    'the order of columns',
    column(COLUMN, { ...COLUMN, name: 'B' }),
    column({ ...COLUMN, name: 'B' }, COLUMN),
    'none',
    'none',
  ],
  ['a field to select by', field(), field({ jsonPath: '.spec.a' }), 'info', 'breaking'],

  ['unknown members', {}, { schema: { 'x-kubernetes-preserve-unknown-fields': true } }, 'dangerous', 'breaking'],
  [
    'unknown members of a part',
    part({ type: 'object' }),
    part({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }),
    'dangerous',
    'breaking',
  ],
  [
    'an object within',
    part({ type: 'object' }),
    part({ type: 'object', 'x-kubernetes-embedded-resource': true }),
    'breaking',
    'dangerous',
  ],
  [
    'what every object within has',
    part(WITHIN),
    part({
      ...WITHIN,
      required: ['apiVersion', 'kind'],
      properties: { apiVersion: TEXT, kind: TEXT, metadata: { type: 'object' } },
    }),
    'none',
    'none',
  ],
  [
    'the metadata of an object within, which must be there',
    part(WITHIN),
    part({ ...WITHIN, required: ['metadata'], properties: { metadata: { type: 'object' } } }),
    'breaking',
    'dangerous',
  ],
  [
    'a default that is filled in from below',
    filled({}, FILLED_INNER),
    filled({ b: { c: 1 } }, FILLED_INNER),
    'none',
    'none',
  ],
  [
    'a default that is filled in otherwise',
    filled({}, FILLED_INNER),
    filled({ b: { c: 2 } }, FILLED_INNER),
    'dangerous',
    'dangerous',
  ],
  ['a null that a default replaces', filled({ b: null }, FILLED_INNER), filled({}, FILLED_INNER), 'none', 'none'],
  ['the certificates of a webhook', trusted('AAAA'), trusted('BBBB'), 'info', 'info'],
  ['certificates that a cluster fills in', webhook({}), trusted('AAAA'), 'info', 'info'],
  [
    'a number or a text',
    part({ type: 'integer' }),
    part({ 'x-kubernetes-int-or-string': true }),
    'dangerous',
    'breaking',
  ],
  [
    'a number or a text in place of a text',
    part(TEXT),
    part({ 'x-kubernetes-int-or-string': true }),
    'dangerous',
    'breaking',
  ],
  [
    'the types of a number or a text',
    part({ 'x-kubernetes-int-or-string': true }),
    part({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }),
    'none',
    'none',
  ],
  [
    'alternatives of a number or a text',
    part({ 'x-kubernetes-int-or-string': true, pattern: '^a' }),
    part({ 'x-kubernetes-int-or-string': true, anyOf: [{ maximum: 5 }, { enum: [9] }], pattern: '^a' }),
    'breaking',
    'dangerous',
  ],
  [
    'a map in place of an object',
    part({ type: 'object' }),
    part({ type: 'object', additionalProperties: TEXT }),
    'breaking',
    'breaking',
  ],
  [
    'a list of members by key',
    listed({}),
    listed({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }),
    'breaking',
    'dangerous',
  ],
  [
    'the key of a list',
    listed({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }),
    listed({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['l'] }),
    'breaking',
    'breaking',
  ],
  [
    'a further key of a list',
    listed({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }),
    listed({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k', 'l'] }),
    'breaking',
    'breaking',
  ],
  [
    'a set',
    part({ type: 'array', items: TEXT }),
    part({ type: 'array', items: TEXT, 'x-kubernetes-list-type': 'set' }),
    'breaking',
    'dangerous',
  ],
  [
    'an atomic object',
    part({ type: 'object' }),
    part({ type: 'object', 'x-kubernetes-map-type': 'atomic' }),
    'dangerous',
    'dangerous',
  ],
  ['a rule', ruled(), ruled(RULE), 'breaking', 'dangerous'],
  ['the expression of a rule', ruled(RULE), ruled({ ...RULE, rule: 'self.a == self.b' }), 'breaking', 'breaking'],
  ['the message of a rule', ruled(RULE), ruled({ ...RULE, message: 'other' }), 'info', 'info'],
  [
    'the expression of the message of a rule',
    ruled(RULE),
    ruled({ ...RULE, messageExpression: '"a"' }),
    'info',
    'info',
  ],
  ['the reason of a rule', ruled(RULE), ruled({ ...RULE, reason: 'FieldValueForbidden' }), 'info', 'info'],
  ['the path of a rule', ruled(RULE), ruled({ ...RULE, fieldPath: '.a' }), 'info', 'info'],
  [
    'a rule that runs without an old value',
    ruled({ rule: 'self.a == oldSelf.a' }),
    ruled({ rule: 'self.a == oldSelf.a', optionalOldSelf: true }),
    'breaking',
    'dangerous',
  ],
  [
    'the layout of a rule',
    ruled({ rule: "self.a == 'x  y' && self.b in [1, 2]" }),
    ruled({ rule: "self.a=='x  y' // both\n  &&\n  self.b in [1,2]\n" }),
    'none',
    'none',
  ],
  [
    'a space in a text of a rule',
    ruled({ rule: "self.a == 'x y'" }),
    ruled({ rule: "self.a == 'xy'" }),
    'breaking',
    'breaking',
  ],
  [
    'a space between words of a rule',
    ruled({ rule: 'self.a in b' }),
    ruled({ rule: 'self.a inb' }),
    'breaking',
    'breaking',
  ],
  ['the order of rules', ruled(RULE, { rule: 'self.c' }), ruled({ rule: 'self.c' }, RULE), 'none', 'none'],
  ['the same rule twice', ruled(RULE), ruled(RULE, RULE), 'none', 'none'],
  ['the default of a part', part(TEXT), part({ ...TEXT, default: 'x' }), 'dangerous', 'dangerous'],
  [
    'another default of a part',
    part({ ...TEXT, default: 'y' }),
    part({ ...TEXT, default: 'x' }),
    'dangerous',
    'dangerous',
  ],
  [
    'a part that gets a default and becomes required',
    part(TEXT),
    { schema: { properties: { a: { ...TEXT, default: 'x' } }, required: ['a'] } },
    'dangerous',
    'dangerous',
  ],
  [
    'a part where unknown members are kept',
    part({ type: 'object', [PRESERVE]: true }),
    part({ type: 'object', [PRESERVE]: true, properties: { b: TEXT } }),
    'dangerous',
    'dangerous',
  ],
  [
    'a map of anything in place of unknown members',
    part({ type: 'object', [PRESERVE]: true }),
    part({ type: 'object', additionalProperties: { [PRESERVE]: true } }),
    'info',
    'dangerous',
  ],
  ['null', part(TEXT), part({ ...TEXT, nullable: true }), 'dangerous', 'breaking'],
  ['a part', {}, part(TEXT), 'info', 'breaking'],
  ['a required part', part(TEXT), { schema: { properties: { a: TEXT }, required: ['a'] } }, 'breaking', 'dangerous'],
  ['the description of a part', part(TEXT), part({ ...TEXT, description: 'd' }), 'none', 'none'],
]

/** `self.c` joined with other conditions. */
const joined = (...rules: readonly string[]): Parts => ruled(...rules.map((rule) => ({ rule })))

const CONDITIONS: readonly ElementRow<Parts>[] = [
  ['quotes', joined("self.c == 'x'"), joined('self.c == "x"'), 'none', 'none'],
  ['quotes within quotes', joined(`self.c == '"'`), joined(`self.c == '\\"'`), 'breaking', 'breaking'],
  ['brackets around a whole', joined('(self.c)'), joined('self.c'), 'none', 'none'],
  ['brackets around a part', joined('(self.c) || self.d'), joined('self.c || self.d'), 'breaking', 'breaking'],
  ['two rules', joined('self.c && self.d'), joined('self.d', 'self.c'), 'none', 'none'],
  ['two rules in brackets', joined('(self.c && (self.d))'), joined('self.d && self.c'), 'none', 'none'],
  ['one more condition', joined('self.c'), joined('self.c && self.d'), 'breaking', 'dangerous'],
  ['an alternative', joined('self.c && self.d'), joined('self.c || self.d'), 'breaking', 'breaking'],
  [
    'closer binding',
    joined('self.c || self.d && self.e'),
    joined('self.c || self.d', 'self.e'),
    'breaking',
    'breaking',
  ],
  [
    'a choice',
    joined('self.c && self.d ? self.e : self.f'),
    joined('self.c', 'self.d ? self.e : self.f'),
    'breaking',
    'breaking',
  ],
  ['a negated whole', joined('!(self.c && self.d)'), joined('!self.c', '!self.d'), 'breaking', 'breaking'],
  ['a text with an operator', joined('self.c == "a && b"'), joined('self.c == "a', 'b"'), 'breaking', 'breaking'],
  [
    'a condition that runs on creation, too',
    joined('self.c && self.d == oldSelf.d'),
    joined('self.c', 'self.d == oldSelf.d'),
    'breaking',
    'dangerous',
  ],
  [
    'a condition that runs on creation in any case',
    joined('self.c', 'self.c && self.d == oldSelf.d'),
    joined('self.c && self.d == oldSelf.d', 'self.c'),
    'none',
    'none',
  ],
]

checkElements('a condition of a rule', 'k8s_crd', CONDITIONS, definition)

test('a rule is reported once, however many of its conditions changed', () => {
  const [base, head] = ['a', 'b'].map((name) =>
    definition(joined(Array.from({ length: 2000 }, (_, index) => `self.${name}${index}`).join(' && '))),
  )
  const found = alarmsOf('k8s_crd', base, head).map(({ rule }) => rule)
  assert.deepEqual(found, ['crd-validation-rule-added', 'crd-validation-rule-removed'])
})

/** One version more, which nobody calls unless it says so. */
const unused = (schema: Json, more: Json = {}): Parts => ({
  versions: [V1, { name: 'v0', served: false, storage: false, schema: { openAPIV3Schema: schema }, ...more }],
})
const [ANY, SHORT] = [
  { type: 'object', properties: { a: TEXT } },
  { type: 'object', properties: {} },
]

const UNUSED: readonly ElementRow<Parts>[] = [
  ['a property', unused(ANY), unused(SHORT), 'dangerous', 'none'],
  ['a description', unused(ANY), unused({ ...ANY, description: 'd' }), 'none', 'none'],
  ['a subresource', unused(ANY, { subresources: { status: {} } }), unused(ANY), 'none', 'none'],
  ['another schema as it is served', unused(ANY), unused(SHORT, { served: true }), 'dangerous', 'breaking'],
  [
    'a property of one that is served',
    unused(ANY, { served: true }),
    unused(SHORT, { served: true }),
    'breaking',
    'info',
  ],
]

checkElements('a version that is neither served nor stored, of which', 'k8s_crd', UNUSED, definition)

const FILLED_TEXT = { ...TEXT, default: 'x' }
const withFilled = (object: Json, isFilled = true): Parts =>
  part({ type: 'object', ...object, properties: { k: TEXT, ...(isFilled && { l: FILLED_TEXT }) } })
const [ONE, OTHER, TWO] = [{ required: ['k'] }, { required: ['l'] }, { minProperties: 2 }]

const PRESENCE: readonly ElementRow<Json>[] = [
  ['nothing', {}, { description: 'd' }, 'info', 'info'],
  ['a number of members at most', { maxProperties: 2 }, { maxProperties: 1 }, 'info', 'dangerous'],
  ['no member', { minProperties: 1 }, { maxProperties: 0 }, 'info', 'dangerous'],
  ['another one', ONE, { not: OTHER }, 'info', 'dangerous'],
  ['one of two', { anyOf: [ONE, TWO] }, { oneOf: [ONE, TWO] }, 'info', 'dangerous'],
  ['one of two, deeper', { allOf: [{ anyOf: [ONE, TWO] }] }, { allOf: [{ oneOf: [ONE, TWO] }] }, 'info', 'dangerous'],
  [
    'a value of it',
    { not: { ...ONE, properties: { k: { minLength: 2 } } } },
    { not: { ...OTHER, properties: { l: { minLength: 2 } } } },
    'info',
    'dangerous',
  ],
]

suite('a new property with a default, where its object demands', () => {
  for (const [what, harmless, harmful, ...levels] of PRESENCE)
    test(what, () => {
      const found = [harmless, harmful].map((object) =>
        worstOf('k8s_crd', definition(withFilled(object, false)), definition(withFilled(object))),
      )
      assert.deepEqual(found, levels)
    })
})

const beta = (spec: Json): Json => ({
  ...definition({}),
  apiVersion: 'apiextensions.k8s.io/v1beta1',
  spec: { ...definition({}).spec, preserveUnknownFields: false, ...spec },
})
const OF_VERSIONS = { subresources: { status: {} }, selectableFields: [{ jsonPath: '.spec.a' }] }
const CLIENT = { service: { name: 'a', namespace: 'b' } }
const converted = (more: Json): Json =>
  beta({ conversion: { strategy: 'Webhook', webhookClientConfig: CLIENT, ...more } })

const BETA: readonly ElementRow<Json>[] = [
  ['what all versions share', beta(OF_VERSIONS), definition({ version: OF_VERSIONS }), 'none', 'none'],
  [
    'what v1 reads in versions only',
    definition({ spec: OF_VERSIONS }),
    definition({ version: OF_VERSIONS }),
    'dangerous',
    'breaking',
  ],
  ['a webhook', converted({ conversionReviewVersions: ['v1'] }), definition(webhook({})), 'none', 'none'],
  ['the version of reviews', converted({}), definition(webhook({})), 'dangerous', 'dangerous'],
  ['its default', converted({}), converted({ conversionReviewVersions: ['v1beta1'] }), 'none', 'none'],
]

checkElements('in v1beta1,', 'k8s_crd', BETA)

const EMPTY: readonly ElementRow<Parts>[] = [
  ['a path', scaled({}), scaled({ labelSelectorPath: '' }), 'none', 'none'],
  ['a path that is null', scaled({}), scaled({ labelSelectorPath: null }), 'none', 'none'],
  ['a default', part(TEXT), part({ ...TEXT, default: null }), 'none', 'none'],
  [
    'a default of a part that takes null',
    part({ ...TEXT, nullable: true }),
    part({ ...TEXT, nullable: true, default: null }),
    'none',
    'none',
  ],
]

checkElements('a member without content,', 'k8s_crd', EMPTY, definition)

checkElements('an element of a custom resource definition', 'k8s_crd', ELEMENTS, definition)
