/**
 * A discriminator also selects the schemas that inherit from its own by `allOf`, which no list names. What breaks them
 * breaks every place that takes or gives the schema above them, and no other place.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { LEVELS, type Level } from '../../../engine/internal.ts'
import { isRecord } from '../../../engine/schema/located.ts'
import { sha256 } from '../../conformance/openapi-run.ts'

type Json = Readonly<Record<string, unknown>>
type Worst = Level | 'none'

const TEXT = { type: 'string' }
const NUMBER = { type: 'integer' }
const SCHEMAS = '#/components/schemas'
const to = (name: string): Json => ({ $ref: `${SCHEMAS}/${name}` })
const inheriting = (name: string, own: Json): Json => ({ allOf: [to(name), { type: 'object', ...own }] })

const CAT = inheriting('Pet', { required: ['purrs'], properties: { purrs: TEXT, age: TEXT } })
const DOG = inheriting('Pet', { properties: { barks: TEXT } })
const PUPPY = inheriting('Dog', { properties: { months: NUMBER } })
const BIRD = inheriting('Pet', { required: ['wings'], properties: { wings: NUMBER } })
const BASE: Json = { Cat: CAT, Dog: DOG, Puppy: PUPPY }

const without = (name: string): Json => Object.fromEntries(Object.entries(BASE).filter(([key]) => key !== name))
const cat = (own: Json): Json => ({ ...BASE, Cat: inheriting('Pet', own) })

/** A change of the schemas below, and the worst level in a request and in a response. */
const CHANGES: Readonly<Record<string, readonly [head: Json, request: Worst, response: Worst]>> = {
  nothing: [BASE, 'none', 'none'],
  'another type': [cat({ required: ['purrs'], properties: { purrs: NUMBER, age: TEXT } }), 'breaking', 'breaking'],
  'a property that became optional': [cat({ properties: { purrs: TEXT, age: TEXT } }), 'info', 'breaking'],
  'a property that became required': [
    cat({ required: ['purrs', 'age'], properties: { purrs: TEXT, age: TEXT } }),
    'breaking',
    'info',
  ],
  'a property less': [cat({ required: ['purrs'], properties: { purrs: TEXT } }), 'dangerous', 'dangerous'],
  'a property more': [cat({ required: ['purrs'], properties: { purrs: TEXT, age: TEXT, name: TEXT } }), 'info', 'info'],
  'another type two levels below': [
    { ...BASE, Puppy: inheriting('Dog', { properties: { months: TEXT } }) },
    'breaking',
    'breaking',
  ],
  'a subtype less': [without('Cat'), 'breaking', 'info'],
  'a subtype more': [{ ...BASE, Bird: BIRD }, 'info', 'dangerous'],
  'a subtype of a subtype less': [without('Puppy'), 'breaking', 'info'],
  'another name of a subtype': [{ ...without('Cat'), Kitty: CAT }, 'breaking', 'dangerous'],
  'a schema that inherits no more': [
    { ...BASE, Cat: { type: 'object', required: ['purrs'], properties: { purrs: TEXT, age: TEXT } } },
    'dangerous',
    'breaking',
  ],
}

interface Contract {
  readonly schemas: Json
  readonly discriminator: unknown
  /** The schema of the body. */
  readonly body: Json
}

type Writing = (contract: Contract, direction: 'request' | 'response') => Json

const PET = { type: 'object', required: ['kind'], properties: { kind: TEXT } }

const openApi =
  (version: string): Writing =>
  ({ schemas, discriminator, body }, direction) => {
    const content = { 'application/json': { schema: body } }
    const done = { description: 'done' }
    return {
      openapi: version,
      info: { title: 'pets', version: '1' },
      paths: {
        '/pets': {
          post:
            direction === 'request'
              ? { requestBody: { required: true, content }, responses: { 200: done } }
              : { responses: { 200: { ...done, content } } },
        },
      },
      components: { schemas: { ...schemas, Pet: { ...PET, discriminator } } },
    }
  }

const swagger: Writing = ({ schemas, body }, direction) => {
  const document = {
    swagger: '2.0',
    info: { title: 'pets', version: '1' },
    consumes: ['application/json'],
    produces: ['application/json'],
    paths: {
      '/pets': {
        post:
          direction === 'request'
            ? {
                parameters: [{ name: 'pet', in: 'body', required: true, schema: body }],
                responses: { 200: { description: 'done' } },
              }
            : { responses: { 200: { description: 'done', schema: body } } },
      },
    },
    definitions: { ...schemas, Pet: { ...PET, discriminator: 'kind' } },
  }
  const moved: unknown = JSON.parse(JSON.stringify(document).replaceAll(SCHEMAS, '#/definitions'))
  assert.ok(isRecord(moved))
  return moved
}

const asyncApi: Writing = ({ schemas, body }, direction) => ({
  asyncapi: '3.0.0',
  info: { title: 'pets', version: '1' },
  channels: { pets: { address: 'pets', messages: { pet: { payload: body } } } },
  operations: {
    pet: { action: direction === 'request' ? 'receive' : 'send', channel: { $ref: '#/channels/pets' } },
  },
  components: { schemas: { ...schemas, Pet: { ...PET, discriminator: 'kind' } } },
})

const asyncApi2: Writing = ({ schemas, body }, direction) => ({
  asyncapi: '2.6.0',
  info: { title: 'pets', version: '1' },
  channels: { pets: { [direction === 'request' ? 'publish' : 'subscribe']: { message: { payload: body } } } },
  components: { schemas: { ...schemas, Pet: { ...PET, discriminator: 'kind' } } },
})

const WRITINGS: Readonly<Record<string, Writing>> = {
  'Swagger 2.0': swagger,
  'OpenAPI 3.0': openApi('3.0.3'),
  'OpenAPI 3.1': openApi('3.1.0'),
  'AsyncAPI 2.6': asyncApi2,
  'AsyncAPI 3.0': asyncApi,
}
/** The property is all that their discriminators state. */
const WITHOUT_MAPPING: ReadonlySet<string> = new Set(['Swagger 2.0', 'AsyncAPI 2.6', 'AsyncAPI 3.0'])

const BY_NAME = { propertyName: 'kind' }
const mappedTo = (name: string): Json => ({ ...BY_NAME, mapping: { cat: `${SCHEMAS}/${name}` } })
const renamedTo = (schema: Json): Json => ({ ...without('Cat'), Kitty: schema })

/** Places from which the subtypes are reached. */
const BODIES: Readonly<Record<string, Json>> = {
  'the schema': to('Pet'),
  'a list of it': { type: 'array', items: to('Pet') },
  'a property of it': { type: 'object', properties: { pet: to('Pet') } },
  'a property with the name of a part': { type: 'object', properties: { 'allOf[0]': to('Pet') } },
  'a schema around it': { allOf: [to('Pet')], description: 'a pet' },
  'more beside it': { allOf: [to('Pet'), { type: 'object', properties: { note: TEXT } }] },
}

/** A contract in several files, by path. */
type Files = Readonly<Record<string, Json>>

const ROOT = 'openapi.json'
const inOne = (contract: Json): Files => ({ [ROOT]: contract })

/** All schemas in another file. */
function apart(contract: Json): Files {
  const { components, ...root } = contract
  const moved: unknown = JSON.parse(JSON.stringify(root).replaceAll(SCHEMAS, `schemas.json${SCHEMAS}`))
  assert.ok(isRecord(moved))
  return { [ROOT]: moved, 'schemas.json': { components } }
}

/** Each schema in a file of its own, which the contract names. */
function spread(contract: Json): Files {
  const { components } = contract
  assert.ok(isRecord(components) && isRecord(components['schemas']))
  const schemas = Object.entries(components['schemas'])
  const linked = Object.fromEntries(schemas.map(([name]) => [name, { $ref: `schemas/${name}.json` }]))
  const files = schemas.map(([name, schema]): [string, Json] => {
    const moved: unknown = JSON.parse(JSON.stringify(schema).replace(/#\/components\/schemas\/(\w+)/g, './$1.json'))
    assert.ok(isRecord(moved))
    return [`schemas/${name}.json`, moved]
  })
  return { [ROOT]: { ...contract, components: { schemas: linked } }, ...Object.fromEntries(files) }
}

/** Each schema in a section of its own, as bundlers put the files of a contract. Those that refer there have the names. */
function bundled(contract: Json): Files {
  const { components } = contract
  assert.ok(isRecord(components) && isRecord(components['schemas']))
  const { schemas } = components
  const linked = Object.fromEntries(Object.keys(schemas).map((name) => [name, { $ref: `#/x-files/${name}.json` }]))
  const files = Object.entries(schemas).map(([name, schema]) => [`${name}.json`, schema])
  const text = JSON.stringify(Object.fromEntries(files))
  const moved: unknown = JSON.parse(text.replace(/#\/components\/schemas\/(\w+)/g, '#/x-files/$1.json'))
  return inOne({ ...contract, components: { schemas: linked }, 'x-files': moved })
}

const SPREADS: Readonly<Record<string, (contract: Json) => Files>> = {
  'one file': inOne,
  'schemas in another file': apart,
  'schemas in a file each': spread,
  'bundled schemas': bundled,
}

function worst(before: Files, after: Files): Worst {
  const [base, head] = [before, after].map(({ [ROOT]: root, ...files }) => ({
    root: JSON.stringify(root),
    files: Object.fromEntries(Object.entries(files).map(([path, file]) => [path, JSON.stringify(file)])),
  }))
  assert.ok(base && head)
  const type = base.root.includes('"asyncapi"') ? 'asyncapi' : 'openapi'
  const files = { base: base.files, head: head.files }
  const compared = compare({ id: 'pets', type, before: base.root, after: head.root }, { files }, sha256)
  assert.ok(compared.ok)
  const groups = compared.value.groups.filter(({ rule }) => rule !== 'api-schema-removed')
  return LEVELS.find((level) => groups.some((group) => group.level === level)) ?? 'none'
}

function levelsOf(write: Writing, lay: (contract: Json) => Files, schemas: Json, body: Json): readonly Worst[] {
  return (['request', 'response'] as const).map((direction) => {
    const sides = [BASE, schemas].map((one) => lay(write({ schemas: one, discriminator: BY_NAME, body }, direction)))
    const [base, head] = sides
    assert.ok(base && head)
    return worst(base, head)
  })
}

for (const [language, write] of Object.entries(WRITINGS)) {
  suite(`subtypes in ${language}`, () => {
    for (const [what, [schemas, request, response]] of Object.entries(CHANGES)) {
      for (const [place, body] of Object.entries(BODIES)) {
        for (const [files, lay] of Object.entries(SPREADS)) {
          if (language === 'Swagger 2.0' && files !== 'one file') continue
          test(`${what}, below ${place}, ${files}`, () => {
            assert.deepEqual(levelsOf(write, lay, schemas, body), [request, response])
          })
        }
      }
    }
    if (!WITHOUT_MAPPING.has(language)) {
      test('another name behind a mapping changes nothing, and hides nothing', () => {
        const changed = inheriting('Pet', { required: ['purrs'], properties: { purrs: NUMBER, age: TEXT } })
        for (const direction of ['request', 'response'] as const) {
          const contract = { schemas: BASE, discriminator: mappedTo('Cat'), body: to('Pet') }
          const [same, other] = [CAT, changed].map((schema) =>
            inOne(write({ ...contract, schemas: renamedTo(schema), discriminator: mappedTo('Kitty') }, direction)),
          )
          assert.ok(same && other)
          const base = inOne(write(contract, direction))
          assert.deepEqual([worst(base, same), worst(base, other)], ['none', 'breaking'])
        }
      })
    }
    const added: readonly (readonly [what: string, pet: Json, worst: Worst, worstRemoved: Worst])[] = [
      ['of a text', PET, 'dangerous', 'dangerous'],
      ['that may be absent', { type: 'object', properties: { kind: { enum: ['Pet'] } } }, 'dangerous', 'dangerous'],
      ['that lists its own name', { ...PET, properties: { kind: { enum: ['Pet'] } } }, 'info', 'info'],
      ['that lists a subtype', { ...PET, properties: { kind: { enum: ['Cat'] } } }, 'dangerous', 'dangerous'],
      ['that lists a subtype with no needs', { ...PET, properties: { kind: { enum: ['Dog'] } } }, 'info', 'info'],
    ]
    for (const [what, pet, narrowed, widened] of added) {
      test(`a discriminator ${what} that comes, and goes`, () => {
        const schemas = { Cat: CAT, Dog: inheriting('Pet', { type: 'object' }) }
        const sides = (direction: 'request' | 'response', body: Json): readonly Files[] =>
          [true, false].map((isSelecting) => {
            const contract = write({ schemas, discriminator: BY_NAME, body }, direction)
            const [owner, member] = language === 'Swagger 2.0' ? [null, 'definitions'] : ['components', 'schemas']
            const holder = owner === null ? contract : contract[owner]
            assert.ok(isRecord(holder))
            const shared = holder[member]
            assert.ok(isRecord(shared) && isRecord(shared['Pet']))
            const { discriminator } = shared['Pet']
            const whole = { ...holder, [member]: { ...shared, Pet: isSelecting ? { ...pet, discriminator } : pet } }
            return inOne(owner === null ? whole : { ...contract, [owner]: whole })
          })
        for (const body of [to('Pet'), { type: 'array', items: to('Pet') }, { allOf: [to('Pet')] }]) {
          const [selecting, plain] = sides('request', body)
          const [selectingAnswer, plainAnswer] = sides('response', body)
          assert.ok(selecting && plain && selectingAnswer && plainAnswer)
          assert.deepEqual([worst(plain, selecting), worst(selecting, plain)], [narrowed, 'info'])
          assert.deepEqual(
            [worst(plainAnswer, selectingAnswer), worst(selectingAnswer, plainAnswer)],
            ['info', widened],
          )
        }
        const [selecting, plain] = sides('request', to('Cat'))
        assert.ok(selecting && plain)
        assert.deepEqual([worst(plain, selecting), worst(selecting, plain)], ['info', 'info'])
      })
    }
    test('an operation on one subtype does not concern another one', () => {
      const changed = { ...BASE, Dog: inheriting('Pet', { properties: { barks: NUMBER } }) }
      assert.deepEqual(levelsOf(write, inOne, changed, to('Cat')), ['none', 'none'])
    })
  })
}

test('an alternative that another file held gets its first name, and no other one', () => {
  const own = { type: 'object', properties: { kind: TEXT, purrs: TEXT } }
  const write = openApi('3.1.0')
  const whole = (schemas: Json, body: Json): Files =>
    inOne(write({ schemas, discriminator: undefined, body }, 'request'))
  const before: Files = { ...whole({}, { oneOf: [{ $ref: 'cat.json' }], discriminator: BY_NAME }), 'cat.json': own }
  assert.equal(worst(before, whole({ Cat: own }, { oneOf: [to('Cat')], discriminator: BY_NAME })), 'none')
})
