/**
 * A subtype that a discriminator selects is proved by itself. A proof about its parent says nothing of it, and neither does
 * another way to write the place of the parent. Each change is one that no keyword explains.
 */
import { checkElements, type ElementRow, type Worst } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>
type Levels = readonly [forth: Worst, back: Worst]

const TEXT = { type: 'string' }
const NUMBER = { type: 'number' }
const SCHEMAS = '#/components/schemas'
const to = (name: string): Json => ({ $ref: `${SCHEMAS}/${name}` })
const part = (own: Json, parent = 'Pet'): Json => ({ allOf: [to(parent), { type: 'object', ...own }] })
const choice = (most: number): Json => ({
  oneOf: [
    { type: 'number', maximum: most },
    { type: 'number', minimum: 10 },
  ],
})

/** What a subtype has of its own, and the worst level forth and back: of what callers send, then of what readers get. */
const CHANGES: Readonly<Record<string, readonly [one: Json, other: Json, request: Levels, response: Levels]>> = {
  'a schema of a name that was required': [
    { required: ['a'] },
    { required: ['a'], properties: { a: NUMBER } },
    ['breaking', 'dangerous'],
    ['info', 'breaking'],
  ],
  'a schema of a name that further members had': [
    { additionalProperties: TEXT },
    { additionalProperties: TEXT, properties: { a: NUMBER } },
    ['breaking', 'breaking'],
    ['breaking', 'dangerous'],
  ],
  'an alternative that comes to overlap': [
    { required: ['a'], properties: { a: choice(3) } },
    { required: ['a'], properties: { a: choice(20) } },
    ['breaking', 'breaking'],
    // The new values were refused only because two alternatives admit them.
    ['breaking', 'dangerous'],
  ],
  'another way to write it': [
    { properties: { a: TEXT } },
    { properties: { a: { anyOf: [TEXT] } } },
    ['none', 'none'],
    ['none', 'none'],
  ],
}

interface Contract {
  readonly schemas: Json
  /** The schema of the body. */
  readonly body: Json
}
type Writing = (contract: Contract, isRequest: boolean, discriminator: unknown) => unknown

const openApi =
  (openapi: string): Writing =>
  ({ schemas, body }, isRequest, discriminator) => {
    const content = { 'application/json': { schema: body } }
    const done = { description: 'done' }
    const post = isRequest
      ? { requestBody: { required: true, content }, responses: { 200: done } }
      : { responses: { 200: { ...done, content } } }
    const Pet = { ...PET, discriminator }
    const info = { title: 'pets', version: '1' }
    return { openapi, info, paths: { '/pets': { post } }, components: { schemas: { ...schemas, Pet } } }
  }

const swagger: Writing = ({ schemas, body }, isRequest) => {
  const done = { description: 'done' }
  const parameters = [{ name: 'pet', in: 'body', required: true, schema: body }]
  const post = isRequest ? { parameters, responses: { 200: done } } : { responses: { 200: { ...done, schema: body } } }
  const media = { consumes: ['application/json'], produces: ['application/json'] }
  const definitions = { ...schemas, Pet: { ...PET, discriminator: 'kind' } }
  const info = { title: 'pets', version: '1' }
  const document = { swagger: '2.0', info, ...media, paths: { '/pets': { post } }, definitions }
  return JSON.parse(JSON.stringify(document).replaceAll(SCHEMAS, '#/definitions'))
}

const asyncApi: Writing = ({ schemas, body }, isRequest) => ({
  asyncapi: '2.6.0',
  info: { title: 'pets', version: '1' },
  channels: { pets: { [isRequest ? 'publish' : 'subscribe']: { message: { payload: body } } } },
  components: { schemas: { ...schemas, Pet: { ...PET, discriminator: 'kind' } } },
})

const PET = { type: 'object', required: ['kind'], properties: { kind: TEXT } }
const BY_NAME = { propertyName: 'kind' }
const mapped = (mapping: Json): Json => ({ ...BY_NAME, mapping })

/** A subtype with something of its own: the schemas, where the discriminator's mapping leads to it. */
const SUBTYPES: Readonly<Record<string, readonly [schemas: (own: Json) => Json, discriminator?: Json]>> = {
  'by its name': [(own) => ({ Cat: part(own), Dog: part({}) })],
  'two levels below': [(own) => ({ Cat: part({}), Lion: part(own, 'Cat') })],
  'three levels below': [(own) => ({ Cat: part({}), Lion: part({}, 'Cat'), Cub: part(own, 'Lion') })],
  'that holds its parent': [(own) => ({ Cat: { allOf: [to('Pet'), { properties: { next: to('Pet') } }, own] } })],
  'by a mapped name': [(own) => ({ Cat: part(own) }), mapped({ cat: 'Cat', kitten: 'Cat' })],
  'by a mapped address': [(own) => ({ Cat: part(own) }), mapped({ cat: `${SCHEMAS}/Cat` })],
  'that does not inherit': [(own) => ({ Free: { type: 'object', ...own } }), mapped({ free: `${SCHEMAS}/Free` })],
}

/** Ways to write the place of the parent that mean the same. */
const PLACES: Readonly<Record<string, Json>> = {
  'the schema': to('Pet'),
  'allOf of one': { allOf: [to('Pet')] },
  'anyOf of one': { anyOf: [to('Pet')] },
  'oneOf of one': { oneOf: [to('Pet')] },
  'allOf of a choice of one': { allOf: [{ anyOf: [to('Pet')] }] },
}
const NESTED: Readonly<Record<string, Json>> = {
  'one choice': { anyOf: [to('Pet'), TEXT, NUMBER] },
  'a choice in a choice': { anyOf: [{ anyOf: [to('Pet'), TEXT] }, NUMBER] },
  'a choice in allOf': { allOf: [{ anyOf: [to('Pet'), TEXT, NUMBER] }] },
  'beside itself': { anyOf: [{ anyOf: [to('Pet'), NUMBER] }, { allOf: [to('Pet')] }, TEXT] },
}

const WRITINGS: Readonly<Record<string, Writing>> = {
  'OpenAPI 3.0': openApi('3.0.3'),
  'OpenAPI 3.1': openApi('3.1.0'),
  'Swagger 2.0': swagger,
  'AsyncAPI 2.6': asyncApi,
}
/** The property is all that their discriminators state. */
const WITHOUT_MAPPING: ReadonlySet<string> = new Set(['Swagger 2.0', 'AsyncAPI 2.6'])

interface Side {
  readonly own: Json
  readonly body: Json
}

for (const [language, write] of Object.entries(WRITINGS)) {
  const isRequestOf = [true, false] as const
  for (const isRequest of isRequestOf) {
    for (const [which, [schemas, discriminator]] of Object.entries(SUBTYPES)) {
      if (discriminator !== undefined && WITHOUT_MAPPING.has(language)) continue
      checkElements<Side>(
        `a subtype ${which}, in a ${isRequest ? 'request' : 'response'} of ${language}`,
        language.startsWith('AsyncAPI') ? 'asyncapi' : 'openapi',
        Object.entries(CHANGES).map(([what, [own, other, request, response]]): ElementRow<Side> => {
          const body = to('Pet')
          return [what, { own, body }, { own: other, body }, ...(isRequest ? request : response)]
        }),
        ({ own, body }) => write({ schemas: schemas(own), body }, isRequest, discriminator ?? BY_NAME),
      )
    }
  }
}

for (const places of [PLACES, NESTED]) {
  const [first, ...others] = Object.entries(places)
  for (const [place, body] of others) {
    for (const isRequest of [true, false]) {
      checkElements<Side>(
        `a subtype of ${first?.[0]} that became ${place}, in a ${isRequest ? 'request' : 'response'}`,
        'openapi',
        Object.entries(CHANGES)
          .filter(([what]) => what !== 'another way to write it')
          .map(([what, [own, other, request, response]]): ElementRow<Side> => {
            return [what, { own, body: first?.[1] ?? {} }, { own: other, body }, ...(isRequest ? request : response)]
          }),
        ({ own, body }) => openApi('3.1.0')({ schemas: { Cat: part(own), Dog: part({}) }, body }, isRequest, BY_NAME),
      )
    }
  }
}

/** A subtype is compared where its parent is used as a whole: what uses another subtype does not reach it. */
for (const isRequest of [true, false]) {
  checkElements<Side>(
    `a subtype beside the one that is used in a ${isRequest ? 'request' : 'response'}`,
    'openapi',
    Object.entries(CHANGES).map(([what, [own, other]]): ElementRow<Side> => {
      return [what, { own, body: to('Dog') }, { own: other, body: to('Dog') }, 'none', 'none']
    }),
    ({ own, body }) =>
      openApi('3.1.0')(
        { schemas: { Cat: part(own), Dog: part({ properties: { b: TEXT } }) }, body },
        isRequest,
        BY_NAME,
      ),
  )
}
