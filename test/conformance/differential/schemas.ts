/** The forms of schemas that the differential run changes into each other, in groups of one concern. */

export type Language = '3.0.3' | '3.1.0'
export type Schema = Readonly<Record<string, unknown>>

export interface SchemaGroup {
  readonly name: string
  readonly languages: readonly Language[]
  readonly forms: Readonly<Record<string, Schema>>
}

const BOTH: readonly Language[] = ['3.0.3', '3.1.0']
const OLD: readonly Language[] = ['3.0.3']
const NEW: readonly Language[] = ['3.1.0']

const cat = { $ref: '#/components/schemas/Cat' }
const dog = { $ref: '#/components/schemas/Dog' }
const bird = { $ref: '#/components/schemas/Bird' }
const text = { type: 'string' }

function group(name: string, languages: readonly Language[], forms: Readonly<Record<string, Schema>>): SchemaGroup {
  return { name, languages, forms }
}

/** A keyword absent, and with each of some values. */
function keyword(
  name: string,
  base: Schema,
  values: readonly unknown[],
  languages: readonly Language[] = BOTH,
): SchemaGroup {
  const forms = values.map((value) => [JSON.stringify(value), { ...base, [name]: value }] as const)
  return group(name, languages, { none: base, ...Object.fromEntries(forms) })
}

function objectOf(properties: Schema, more: Schema = {}): Schema {
  return { type: 'object', properties, ...more }
}

/** Of a text that is JSON. */
const CONTENTS = [objectOf({ a: text }), objectOf({ a: { type: 'integer' } })] as const

export const SCHEMA_GROUPS: readonly SchemaGroup[] = [
  group('type', BOTH, {
    any: {},
    string: text,
    integer: { type: 'integer' },
    number: { type: 'number' },
    boolean: { type: 'boolean' },
    array: { type: 'array', items: text },
    integers: { type: 'array', items: { type: 'integer' } },
    object: { type: 'object' },
  }),
  group('types', NEW, {
    string: text,
    'string|null': { type: ['string', 'null'] },
    'string|integer': { type: ['string', 'integer'] },
    'string|integer|null': { type: ['string', 'integer', 'null'] },
    'integer|number': { type: ['integer', 'number'] },
    null: { type: 'null' },
    any: {},
  }),
  keyword('format', text, ['date', 'date-time', 'uuid', 'email', 'password']),
  keyword('format', { type: 'integer' }, ['int32', 'int64']),
  keyword('format', { type: 'number' }, ['float', 'double']),
  keyword('enum', text, [['a'], ['a', 'b'], ['a', 'b', 'c'], ['c', 'd']]),
  keyword('enum', { type: 'integer' }, [[1], [1, 2], [2, 3]]),
  group('enum of null', OLD, {
    plain: { type: 'string', enum: ['a'] },
    nullable: { type: 'string', nullable: true, enum: ['a', null] },
    'nullable, no null': { type: 'string', nullable: true, enum: ['a'] },
  }),
  group('enum and const', NEW, {
    none: text,
    'const a': { type: 'string', const: 'a' },
    'const b': { type: 'string', const: 'b' },
    'enum a': { type: 'string', enum: ['a'] },
    'enum a b': { type: 'string', enum: ['a', 'b'] },
    'oneOf const a b': { oneOf: [{ const: 'a' }, { const: 'b' }] },
  }),
  keyword('default', text, ['a', 'b', '']),
  keyword('default', { type: 'boolean' }, [true, false]),
  keyword('default', { type: 'integer' }, [0, 1]),
  keyword('pattern', text, ['^a$', '^b$', '.*', '^.*$']),
  keyword('maxLength', text, [0, 5, 9]),
  keyword('minLength', text, [0, 1, 5]),
  keyword('maximum', { type: 'number' }, [0, 5, 9.5]),
  keyword('minimum', { type: 'number' }, [0, 1, -5]),
  keyword('maxItems', { type: 'array', items: text }, [0, 5, 9]),
  keyword('minItems', { type: 'array', items: text }, [0, 1, 5]),
  keyword('uniqueItems', { type: 'array', items: text }, [true, false]),
  keyword('maxProperties', { type: 'object' }, [0, 5, 9]),
  keyword('minProperties', { type: 'object' }, [0, 1, 5]),
  keyword('multipleOf', { type: 'number' }, [2, 4, 3]),
  keyword('exclusiveMaximum', { type: 'number', maximum: 9 }, [true, false], OLD),
  keyword('exclusiveMinimum', { type: 'number', minimum: 1 }, [true, false], OLD),
  keyword('exclusiveMaximum', { type: 'number' }, [5, 9], NEW),
  keyword('exclusiveMinimum', { type: 'number' }, [1, 5], NEW),
  keyword('nullable', text, [true, false], OLD),
  keyword('nullable', objectOf({ a: text }), [true, false], OLD),
  keyword('readOnly', text, [true, false]),
  keyword('writeOnly', text, [true, false]),
  keyword('deprecated', text, [true, false]),
  group('sunset', BOTH, {
    none: text,
    deprecated: { type: 'string', deprecated: true },
    'sunset far': { type: 'string', deprecated: true, 'x-sunset': '2999-01-01' },
    'sunset farther': { type: 'string', deprecated: true, 'x-sunset': '2999-02-01' },
    'sunset past': { type: 'string', deprecated: true, 'x-sunset': '2001-01-01' },
    'no date': { type: 'string', deprecated: true, 'x-sunset': 'soon' },
  }),
  keyword('x-extensible-enum', text, [['a'], ['a', 'b'], ['c']]),
  keyword('x-stability-level', text, ['alpha', 'beta', 'stable', 'odd']),
  keyword('title', text, ['A', 'B']),
  keyword('description', text, ['A', 'B']),
  keyword('example', text, ['A', 'B']),
  keyword('additionalProperties', { type: 'object' }, [true, false, {}, text, { type: 'integer' }]),
  keyword('additionalProperties', objectOf({ a: text }), [true, false, text]),
  keyword('items', { type: 'array' }, [{}, text, { type: 'integer' }, cat]),
  keyword('not', text, [{ enum: ['a'] }, { enum: ['b'] }]),
  group('properties', BOTH, {
    none: { type: 'object' },
    a: objectOf({ a: text }),
    'a required': objectOf({ a: text }, { required: ['a'] }),
    'a default': objectOf({ a: { type: 'string', default: 'x' } }),
    'a default, required': objectOf({ a: { type: 'string', default: 'x' } }, { required: ['a'] }),
    'a read-only': objectOf({ a: { type: 'string', readOnly: true } }),
    'a read-only, required': objectOf({ a: { type: 'string', readOnly: true } }, { required: ['a'] }),
    'a write-only': objectOf({ a: { type: 'string', writeOnly: true } }),
    'a write-only, required': objectOf({ a: { type: 'string', writeOnly: true } }, { required: ['a'] }),
    'a integer': objectOf({ a: { type: 'integer' } }),
    'a and b': objectOf({ a: text, b: text }),
    'a, required b': objectOf({ a: text }, { required: ['b'] }),
    'closed a': objectOf({ a: text }, { additionalProperties: false }),
    'a object of b': objectOf({ a: objectOf({ b: text }) }),
    'a object of required b': objectOf({ a: objectOf({ b: text }, { required: ['b'] }) }),
  }),
  ...(['oneOf', 'anyOf', 'allOf'] as const).flatMap((name) => [
    group(name, BOTH, {
      none: {},
      object: { type: 'object' },
      cat: { [name]: [cat] },
      'cat dog': { [name]: [cat, dog] },
      'dog cat': { [name]: [dog, cat] },
      'dog bird': { [name]: [dog, bird] },
      'cat dog bird': { [name]: [cat, dog, bird] },
      'just cat': cat,
      'just dog': dog,
    }),
    group(`${name} inline`, BOTH, {
      a: { [name]: [objectOf({ a: text })] },
      'a b': { [name]: [objectOf({ a: text }), objectOf({ b: text })] },
      'a c': { [name]: [objectOf({ a: text }), objectOf({ c: text })] },
      'A B': { [name]: [objectOf({ a: text }, { title: 'A' }), objectOf({ b: text }, { title: 'B' })] },
      'A C': { [name]: [objectOf({ a: text }, { title: 'A' }), objectOf({ c: text }, { title: 'C' })] },
      'A B changed': {
        [name]: [objectOf({ a: text }, { title: 'A' }), objectOf({ b: text, d: text }, { title: 'B' })],
      },
      three: { [name]: [objectOf({ a: text }), objectOf({ b: text }), objectOf({ c: text })] },
    }),
    group(`${name} of types`, BOTH, {
      string: text,
      'string integer': { [name]: [text, { type: 'integer' }] },
      'string boolean': { [name]: [text, { type: 'boolean' }] },
      'string with bound, integer': { [name]: [{ type: 'string', maxLength: 5 }, { type: 'integer' }] },
      'string array': { [name]: [text, { type: 'array', items: text }] },
      'string cat': { [name]: [text, cat] },
      string32: { [name]: [text] },
    }),
    group(`${name} around a changing component`, BOTH, {
      'cat dog': { [name]: [cat, dog] },
      'changing dog': { [name]: [{ $ref: '#/components/schemas/Changing' }, dog] },
      changing: { [name]: [{ $ref: '#/components/schemas/Changing' }] },
    }),
  ]),
  group('discriminator', BOTH, {
    none: { oneOf: [cat, dog] },
    kind: { oneOf: [cat, dog], discriminator: { propertyName: 'kind' } },
    sort: { oneOf: [cat, dog], discriminator: { propertyName: 'sort' } },
    'kind mapped': {
      oneOf: [cat, dog],
      discriminator: { propertyName: 'kind', mapping: { c: cat.$ref, d: dog.$ref } },
    },
    'kind mapped otherwise': {
      oneOf: [cat, dog],
      discriminator: { propertyName: 'kind', mapping: { c: dog.$ref, e: cat.$ref } },
    },
    'cat alone': { oneOf: [cat], discriminator: { propertyName: 'kind' } },
  }),
  group('reference', BOTH, {
    inline: objectOf({ kind: text, meow: text }, { required: ['kind'] }),
    component: cat,
    other: dog,
    changing: { $ref: '#/components/schemas/Changing' },
    tree: { $ref: '#/components/schemas/Tree' },
  }),
  group('null in alternatives', NEW, {
    cat,
    'cat or null': { oneOf: [cat, { type: 'null' }] },
    'cat any null': { anyOf: [cat, { type: 'null' }] },
    'cat dog null': { anyOf: [cat, dog, { type: 'null' }] },
    'cat dog': { anyOf: [cat, dog] },
  }),
  group('beside a reference', NEW, {
    cat,
    'with note': { ...cat, description: 'a cat' },
    'with bound': { ...cat, minProperties: 2 },
    'with default': { ...cat, default: { kind: 'x' } },
    deprecated: { ...cat, deprecated: true },
    'read-only': { ...cat, readOnly: true },
  }),
  keyword('const', {}, ['a', 'b', 1, null], NEW),
  keyword('contains', { type: 'array' }, [text, { type: 'integer' }], NEW),
  keyword('minContains', { type: 'array', contains: text }, [0, 1, 2], NEW),
  keyword('maxContains', { type: 'array', contains: text }, [1, 2], NEW),
  keyword('prefixItems', { type: 'array' }, [[text], [text, text], [{ type: 'integer' }]], NEW),
  keyword(
    'patternProperties',
    { type: 'object' },
    [{ '^a': text }, { '^b': text }, { '^a': { type: 'integer' } }],
    NEW,
  ),
  keyword('propertyNames', { type: 'object' }, [{ pattern: '^a' }, { pattern: '^b' }], NEW),
  keyword('unevaluatedProperties', { type: 'object' }, [false, true, text], NEW),
  keyword('unevaluatedItems', { type: 'array' }, [false, true, text], NEW),
  keyword('dependentRequired', { type: 'object' }, [{ a: ['b'] }, { a: ['c'] }, { b: ['a'] }], NEW),
  keyword('dependentSchemas', { type: 'object' }, [{ a: objectOf({ b: text }) }, { b: objectOf({ a: text }) }], NEW),
  keyword('contentEncoding', text, ['base64', 'base16'], NEW),
  keyword('contentMediaType', text, ['image/png', 'image/jpeg'], NEW),
  keyword('contentSchema', { ...text, contentMediaType: 'application/json' }, CONTENTS, NEW),
  group('contentSchema alone', NEW, {
    none: text,
    one: { ...text, contentSchema: CONTENTS[0] },
    other: { ...text, contentSchema: CONTENTS[1] },
  }),
  group('conditions', NEW, {
    none: { type: 'object' },
    if: { type: 'object', if: objectOf({ a: text }) },
    'if then': { type: 'object', if: objectOf({ a: text }), then: { required: ['b'] } },
    'if then else': { type: 'object', if: objectOf({ a: text }), then: { required: ['b'] }, else: { required: ['c'] } },
    'if then otherwise': { type: 'object', if: objectOf({ a: text }), then: { required: ['d'] } },
    'other if': { type: 'object', if: objectOf({ a: { type: 'integer' } }), then: { required: ['b'] } },
  }),
]

/** Components of every document; `Changing` differs between the two sides. */
export function componentsOf(side: 'base' | 'head'): Readonly<Record<string, Schema>> {
  return {
    Cat: objectOf({ kind: text, meow: text }, { required: ['kind'] }),
    Dog: objectOf({ kind: text, bark: { type: 'integer' } }, { required: ['kind'] }),
    Bird: objectOf({ kind: text, sings: { type: 'boolean' } }),
    Changing: objectOf({ kind: text, size: side === 'base' ? { type: 'integer' } : text }),
    Tree: objectOf({ kind: text, children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } }),
  }
}
