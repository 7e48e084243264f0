/**
 * A discriminator chooses the alternative that a value has to be valid against (OpenAPI 3.1 §4.8.25): what a change of it
 * comes to, for callers and for readers. It is one table, so that a part which is missing can be seen.
 */
import assert from 'node:assert/strict'
import { checkElements, type ElementRow, type Worst } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const TEXT = { type: 'string' }
const kind = (sound: Json): Json => ({
  type: 'object',
  required: ['kind', 'sort'],
  properties: { kind: TEXT, sort: TEXT, sound },
})
/** The property is in a part. */
const LISTED = {
  type: 'object',
  required: ['kind'],
  properties: { wheels: { type: 'integer' } },
  allOf: [{ type: 'object', properties: { kind: { enum: ['car'] } } }],
}
const BUS = { type: 'object', required: ['kind'], properties: { kind: { enum: ['bus'] }, seats: { type: 'integer' } } }
const VAN = { type: 'object', properties: { kind: { enum: ['van'] } } }
/** Alternatives that refuse each other's values. */
const SCHEMAS = {
  Cat: kind({ type: 'integer' }),
  Dog: kind(TEXT),
  Cow: kind({ type: 'boolean' }),
  Feline: kind({ type: 'integer' }),
  Car: LISTED,
  Auto: LISTED,
  Bus: BUS,
  Van: VAN,
  Bare: { type: 'object', properties: { wheels: TEXT }, required: ['wheels'] },
}
const to = (name: string): string => `#/components/schemas/${name}`
const ref = (name: string): Json => ({ $ref: to(name) })
const both = ['Cat', 'Dog']

const choice = (discriminator: Json | null, names: readonly string[] = both): Json => ({
  oneOf: names.map(ref),
  ...(discriminator === null ? {} : { discriminator }),
})
const nullable = (schema: Json): Json => {
  assert.ok(Array.isArray(schema['oneOf']))
  return { ...schema, oneOf: [...schema['oneOf'], { type: 'null' }] }
}
const by = (mapping?: Json, propertyName = 'kind'): Json => ({
  propertyName,
  ...(mapping === undefined ? {} : { mapping }),
})

const USES = ['request', 'response', 'property of a request', 'property of a response'] as const
type Use = (typeof USES)[number]

const WRAP: Readonly<Record<Use, (schema: Json) => Json>> = {
  request: (schema) => api({ requestBody: { content: { 'application/json': { schema } } } }),
  response: (schema) => api({}, { content: { 'application/json': { schema } } }),
  'property of a request': (schema) => WRAP.request({ type: 'object', properties: { pet: schema } }),
  'property of a response': (schema) => WRAP.response({ type: 'object', properties: { pet: schema } }),
}

function api(operation: Json, answer: Json = {}): Json {
  return {
    openapi: '3.1.0',
    info: { title: 't', version: '1' },
    components: { schemas: SCHEMAS },
    paths: { '/pets': { post: { ...operation, responses: { 200: { description: 'done', ...answer } } } } },
  }
}

const M = { cat: to('Cat'), dog: to('Dog') }

/** What changed, both sides, and the worst level forth and back: of what callers send, then of what readers get. */
type Change = readonly [what: string, one: Json, other: Json, request: Levels, response: Levels]
type Levels = readonly [forth: Worst, back: Worst]

const CHANGES: readonly Change[] = [
  ['a discriminator', choice(null), choice(by()), ['dangerous', 'info'], ['info', 'dangerous']],
  ['a discriminator with a mapping', choice(null), choice(by(M)), ['dangerous', 'info'], ['info', 'dangerous']],
  [
    'a discriminator of alternatives that list its values',
    choice(null, ['Car', 'Bus']),
    choice(by({ car: to('Car'), bus: to('Bus') }), ['Car', 'Bus']),
    ['info', 'info'],
    ['info', 'info'],
  ],
  [
    'a discriminator of listed values, with values that nobody sends',
    choice(null, ['Car', 'Bus']),
    choice(by({ car: to('Car'), bus: to('Bus'), coach: to('Bus') }), ['Car', 'Bus']),
    ['info', 'info'],
    ['info', 'info'],
  ],
  [
    'a discriminator of listed values, beside null',
    nullable(choice(null, ['Car', 'Bus'])),
    nullable(choice(by({ car: to('Car'), bus: to('Bus') }), ['Car', 'Bus'])),
    ['info', 'info'],
    ['info', 'info'],
  ],
  [
    'a discriminator of listed values, one of which leads nowhere',
    choice(null, ['Car', 'Bus']),
    choice(by({ car: to('Car') }), ['Car', 'Bus']),
    ['dangerous', 'info'],
    ['info', 'dangerous'],
  ],
  [
    'a discriminator of listed values that lead to another alternative',
    choice(null, ['Car', 'Bus']),
    choice(by({ car: to('Bus'), bus: to('Car') }), ['Car', 'Bus']),
    ['dangerous', 'info'],
    ['info', 'dangerous'],
  ],
  [
    'a discriminator of a property that may be absent',
    choice(null, ['Van']),
    choice(by({ van: to('Van') }), ['Van']),
    ['dangerous', 'info'],
    ['info', 'dangerous'],
  ],
  [
    'a discriminator of a property that one alternative has',
    choice(null, ['Car', 'Bare']),
    choice(by({ car: to('Car') }), ['Car', 'Bare']),
    ['dangerous', 'info'],
    ['info', 'dangerous'],
  ],
  [
    'a discriminator of a property that may be absent, with a schema for that',
    choice(null, ['Van']),
    choice({ ...by({ van: to('Van') }), defaultMapping: to('Van') }, ['Van']),
    ['info', 'info'],
    ['info', 'info'],
  ],
  [
    'a discriminator of alternatives without names',
    { oneOf: [LISTED, BUS] },
    { oneOf: [LISTED, BUS], discriminator: by() },
    ['dangerous', 'info'],
    ['info', 'dangerous'],
  ],
  ['the property', choice(by()), choice(by(undefined, 'sort')), ['breaking', 'breaking'], ['breaking', 'breaking']],
  [
    'the property, with a mapping',
    choice(by(M)),
    choice(by(M, 'sort')),
    ['breaking', 'breaking'],
    ['breaking', 'breaking'],
  ],
  [
    'the same place with an escaped character',
    choice(by(M)),
    choice(by({ ...M, cat: '#/components/schemas/C%61t' })),
    ['none', 'none'],
    ['none', 'none'],
  ],
  [
    'where values lead',
    choice(by(M)),
    choice(by({ cat: to('Dog'), dog: to('Cat') })),
    ['breaking', 'breaking'],
    ['breaking', 'breaking'],
  ],
  [
    'where one value leads',
    choice(by({ ...M, pet: to('Cat') })),
    choice(by({ ...M, pet: to('Dog') })),
    ['breaking', 'breaking'],
    ['breaking', 'breaking'],
  ],
  ['a value', choice(by(M)), choice(by({ ...M, kitten: to('Cat') })), ['info', 'breaking'], ['dangerous', 'info']],
  [
    'the name of a value',
    choice(by(M)),
    choice(by({ kitty: to('Cat'), dog: to('Dog') })),
    ['breaking', 'breaking'],
    ['dangerous', 'dangerous'],
  ],
  ['a value beside the names of schemas', choice(by()), choice(by(M)), ['info', 'breaking'], ['dangerous', 'info']],
  [
    'the name of a schema, listed',
    choice(by()),
    choice(by({ Cat: to('Cat'), Dog: to('Dog') })),
    ['none', 'none'],
    ['none', 'none'],
  ],
  [
    'where the names of schemas lead',
    choice(by({ Cat: to('Cat'), Dog: to('Dog') })),
    choice(by({ Cat: to('Dog'), Dog: to('Cat') })),
    ['breaking', 'breaking'],
    ['breaking', 'breaking'],
  ],
  [
    'where the name of a schema leads that was not listed',
    choice(by()),
    choice(by({ Cat: 'Dog' })),
    ['breaking', 'breaking'],
    ['breaking', 'breaking'],
  ],
  [
    'where the name of a schema leads that no alternative names',
    { type: 'object', discriminator: by() },
    { type: 'object', discriminator: by({ Cat: 'Dog' }) },
    ['breaking', 'breaking'],
    ['breaking', 'breaking'],
  ],
  [
    'a name of a schema in place of its address',
    choice(by(M)),
    choice(by({ cat: 'Cat', dog: 'Dog' })),
    ['none', 'none'],
    ['none', 'none'],
  ],
  [
    'another name of the same schema',
    choice(by(M)),
    choice(by({ cat: to('Feline'), dog: to('Dog') }), ['Feline', 'Dog']),
    ['info', 'info'],
    ['info', 'info'],
  ],
  [
    'another name of the same schema, which is the value',
    choice(by()),
    choice(by(), ['Feline', 'Dog']),
    ['breaking', 'breaking'],
    ['dangerous', 'dangerous'],
  ],
  [
    'another name of the same schema, with the old one as a value',
    choice(by()),
    choice(by({ Cat: to('Feline') }), ['Feline', 'Dog']),
    ['info', 'info'],
    ['info', 'info'],
  ],
  [
    'another name of a schema that lists its values',
    choice(by(), ['Car', 'Dog']),
    choice(by(), ['Auto', 'Dog']),
    ['info', 'info'],
    ['info', 'info'],
  ],
  ['an empty mapping', choice(by()), choice(by({})), ['none', 'none'], ['none', 'none']],
  [
    'an alternative',
    choice(by(M)),
    choice(by({ ...M, cow: to('Cow') }), ['Cat', 'Dog', 'Cow']),
    ['info', 'breaking'],
    ['breaking', 'info'],
  ],
  [
    'an alternative without a mapping',
    choice(by()),
    choice(by(), ['Cat', 'Dog', 'Cow']),
    ['info', 'breaking'],
    ['breaking', 'info'],
  ],
]

for (const use of USES) {
  const rows = CHANGES.map(([what, one, other, request, response]): ElementRow<Json> => {
    const [forth, back] = use.endsWith('request') ? request : response
    return [what, one, other, forth, back]
  })
  checkElements(`of a discriminator in a ${use}`, 'openapi', rows, WRAP[use])
}

/** An alternative that changes beside one that admits all of its values: without a discriminator, nothing is lost or new. */
const BESIDE: Readonly<Record<string, unknown>> = {
  'any value': true,
  'any object': { type: 'object' },
  'a wider one': kind({}),
}
const CHOSEN: readonly Change[] = [
  [
    'a bound of an alternative',
    kind({ type: 'integer', minimum: 1 }),
    kind({ type: 'integer', minimum: 3 }),
    ['breaking', 'info'],
    ['info', 'breaking'],
  ],
  [
    'a list of values in an alternative',
    kind({ enum: ['purr', 'meow'] }),
    kind({ enum: ['purr'] }),
    ['breaking', 'info'],
    // Readers are expected to bear new values of a list.
    ['info', 'dangerous'],
  ],
  [
    'a schema of a name that was required, in place of that',
    { type: 'object', required: ['kind', 'sort', 'sound'], properties: { kind: TEXT, sort: TEXT } },
    kind({ const: 'purr' }),
    ['breaking', 'breaking'],
    // More values than before, of a schema that stated its own.
    ['breaking', 'dangerous'],
  ],
]

for (const [beside, wider] of Object.entries(BESIDE)) {
  const pet = { anyOf: [ref('Cat'), wider], discriminator: by({ cat: to('Cat') }) }
  for (const use of USES) {
    const rows = CHOSEN.map(([what, one, other, request, response]): ElementRow<Json> => {
      const [forth, back] = use.endsWith('request') ? request : response
      return [what, one, other, forth, back]
    })
    const wrap = (cat: Json): Json => ({
      ...WRAP[use]({ type: 'array', items: pet }),
      components: { schemas: { ...SCHEMAS, Cat: cat } },
    })
    checkElements(`beside ${beside}, by a discriminator in a ${use}`, 'openapi', rows, wrap)
  }
}
