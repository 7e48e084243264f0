/**
 * How fields and parts of forms are written: a table of the encodings on both sides, and what breaks in each direction. It is one file,
 * so that a form that is missing can be seen.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Members = Readonly<Record<string, unknown>>
type Worst = 'breaking' | 'dangerous' | 'info' | 'none'

const INFO = { title: 't', version: '1' }
const TEXT = { type: 'string' }

function worstOf(before: object, after: object): Worst {
  const [base, head] = [JSON.stringify(before), JSON.stringify(after)]
  const result = compare({ id: 'api', type: 'openapi', before: base, after: head }, {}, sha256Hex)
  assert.ok(result.ok)
  const levels = result.value.groups.filter(({ rule }) => rule !== 'api-version-not-bumped').map(({ level }) => level)
  return (['breaking', 'dangerous', 'info'] as const).find((level) => levels.includes(level)) ?? 'none'
}

function multipart(direction: 'request' | 'response', members: Members): object {
  const schema = { type: 'object', properties: { f: TEXT, o: { $ref: '#/components/schemas/O' } } }
  const content = { 'multipart/form-data': { schema, ...members } }
  const [body, answer] = direction === 'request' ? [{ requestBody: { content } }, {}] : [{}, { content }]
  const post = { ...body, responses: { '200': { description: 'd', ...answer } } }
  const components = {
    headers: { H: { required: true, schema: TEXT } },
    schemas: { O: { type: 'object', properties: { p: TEXT } } },
  }
  return { openapi: '3.1.0', info: INFO, paths: { '/x': { post } }, components }
}

const headers = (of: Members | null): Members => ({ encoding: { f: of === null ? {} : { headers: of } } })
const header = (members: Members): Members => headers({ 'X-H': { schema: TEXT, ...members } })
const LIST = { type: 'array', items: TEXT }
const NEEDED = { headers: { 'X-H': { required: true, schema: TEXT } } }

const png = (stated: Members): Members => ({ encoding: { f: { ...stated, contentType: 'image/png' } } })
const gif = (stated: Members): Members => ({ encoding: { f: { ...stated, contentType: 'image/gif' } } })
const within = (encoding: Members): Members => ({ contentType: 'multipart/mixed', encoding })

/** Both sides, and the worst level where callers write the part, and where they read it. */
const PARTS: Readonly<Record<string, readonly [Members, Members, Worst, Worst]>> = {
  'a content type comes': [{}, { encoding: { f: { contentType: 'image/png' } } }, 'breaking', 'breaking'],
  'a content type is exchanged': [
    { encoding: { f: { contentType: 'image/png' } } },
    { encoding: { f: { contentType: 'image/gif' } } },
    'breaking',
    'breaking',
  ],
  'the content type that a text has anyway': [{}, { encoding: { f: { contentType: 'text/plain' } } }, 'none', 'none'],
  'the content type that an object has anyway': [
    { encoding: { o: { contentType: 'application/json' } } },
    {},
    'none',
    'none',
  ],
  'content types in another order': [
    { encoding: { f: { contentType: 'image/png, image/gif' } } },
    { encoding: { f: { contentType: 'image/gif,image/png' } } },
    'none',
    'none',
  ],
  'a part of a part is written in another content type': [
    { encoding: { o: within({ p: { contentType: 'image/png' } }) } },
    { encoding: { o: within({ p: { contentType: 'image/gif' } }) } },
    'breaking',
    'breaking',
  ],
  'a part of a part comes to need a header': [
    { encoding: { o: within({ p: {} }) } },
    { encoding: { o: within({ p: NEEDED }) } },
    'breaking',
    'none',
  ],
  'the same parts of a part': [
    { encoding: { o: within({ p: { contentType: 'image/png' } }) } },
    { encoding: { o: within({ p: { contentType: 'image/png' }, q: {} }) } },
    'none',
    'none',
  ],
  'an encoding of no property comes': [{}, { encoding: { z: { contentType: 'image/png' } } }, 'none', 'none'],
  'an encoding of no property goes': [{ encoding: { z: { contentType: 'image/png' } } }, {}, 'none', 'none'],
  'an encoding of no property comes to need a header': [
    { encoding: { z: {} } },
    { encoding: { z: NEEDED } },
    'none',
    'none',
  ],
  'a style of no property': [{}, { encoding: { z: { style: 'pipeDelimited' } } }, 'none', 'none'],
  'a part of a part that is no property': [{}, { encoding: { o: within({ z: NEEDED }) } }, 'breaking', 'breaking'],
  'another part of a part that is no property': [
    { encoding: { o: within({ z: {} }) } },
    { encoding: { o: within({ z: NEEDED }) } },
    'none',
    'none',
  ],
  'one more content type': [
    { encoding: { f: { contentType: 'image/png' } } },
    { encoding: { f: { contentType: 'image/png, image/gif' } } },
    'none',
    'breaking',
  ],
  'a range instead of a content type': [
    { encoding: { f: { contentType: 'image/png' } } },
    { encoding: { f: { contentType: 'image/*' } } },
    'none',
    'breaking',
  ],
  'a style instead of a content type': [
    { encoding: { f: { contentType: 'text/plain' } } },
    { encoding: { f: { style: 'form' } } },
    'breaking',
    'breaking',
  ],
  'another content type beside a style': [png({ style: 'form' }), gif({ style: 'form' }), 'none', 'none'],
  'another content type beside an explode': [png({ explode: true }), gif({ explode: true }), 'none', 'none'],
  'an optional header comes': [headers(null), header({}), 'none', 'none'],
  'an optional header goes': [header({}), headers(null), 'none', 'breaking'],
  'a required header comes': [headers(null), header({ required: true }), 'breaking', 'none'],
  'a required header comes with its encoding': [{}, header({ required: true }), 'breaking', 'none'],
  'a required header goes': [header({ required: true }), headers(null), 'none', 'breaking'],
  'a header by reference comes': [
    headers(null),
    headers({ 'X-H': { $ref: '#/components/headers/H' } }),
    'breaking',
    'none',
  ],
  'a header becomes required': [header({}), header({ required: true }), 'breaking', 'none'],
  'a header becomes optional': [header({ required: true }), header({}), 'none', 'breaking'],
  'a header admits less': [header({}), header({ schema: { type: 'integer' } }), 'breaking', 'info'],
  'a header admits more': [header({ schema: { type: 'integer' } }), header({}), 'info', 'breaking'],
  'a header is written otherwise': [
    header({ schema: LIST }),
    headers({ 'X-H': { content: { 'application/json': { schema: LIST } } } }),
    'breaking',
    'breaking',
  ],
  'a header is described': [header({}), header({ description: 'more' }), 'none', 'none'],
  'a header in other letters': [header({}), headers({ 'x-h': { schema: TEXT } }), 'none', 'none'],
  'the content type as a header': [
    headers(null),
    headers({ 'Content-Type': { required: true, schema: TEXT } }),
    'none',
    'none',
  ],
  'a required header by position': [{ prefixEncoding: [{}] }, { prefixEncoding: [NEEDED] }, 'breaking', 'none'],
  'a required header of each item': [{ itemEncoding: {} }, { itemEncoding: NEEDED }, 'breaking', 'none'],
}

const PROPERTY = { properties: { z: TEXT } }

/** Schemas that describe a field, so that its encoding counts, and those that do not. */
const DESCRIBED: Readonly<Record<string, readonly [schema: Members, isDescribed: boolean]>> = {
  'in place': [PROPERTY, true],
  'by another name': [{ properties: { y: TEXT } }, false],
  'in an object that holds it': [{ properties: { y: PROPERTY } }, false],
  'by a reference': [{ $ref: '#/components/schemas/Z' }, true],
  'by a reference without a target': [{ $ref: '#/components/schemas/No' }, true],
  'in a part': [{ allOf: [{}, { allOf: [PROPERTY] }] }, true],
  'in an alternative': [{ anyOf: [{}, PROPERTY] }, true],
  'in one of several': [{ oneOf: [{ required: ['a'] }, PROPERTY] }, true],
  'in a condition': [{ if: PROPERTY }, true],
  'in a consequence': [{ if: { required: ['a'] }, then: PROPERTY }, true],
  'in the other consequence': [{ if: { required: ['a'] }, else: PROPERTY }, true],
  'in what depends on another name': [{ dependentSchemas: { a: PROPERTY } }, true],
  'in a negation': [{ not: PROPERTY }, true],
  'as a required name': [{ required: ['z'] }, true],
  'by a pattern': [{ patternProperties: { '^z': TEXT } }, true],
  'as any other name': [{ additionalProperties: TEXT }, true],
  'as any other name, expressly': [{ additionalProperties: true }, true],
  'as a name that nothing evaluated': [{ unevaluatedProperties: TEXT }, true],
  'as a refused name': [{ properties: { y: TEXT }, additionalProperties: false }, false],
}

function describing(schema: Members, encoding: Members): object {
  const content = { 'multipart/form-data': { schema: { type: 'object', ...schema }, encoding } }
  const post = { requestBody: { content }, responses: { '200': { description: 'd' } } }
  return { openapi: '3.1.0', info: INFO, paths: { '/x': { post } }, components: { schemas: { Z: PROPERTY } } }
}

function field(place: 'query' | 'formData', mediaType: string, members: Members): object {
  const parameters = [{ in: place, name: 'f', ...LIST, ...members }]
  const post = { consumes: [mediaType], parameters, responses: { '200': { description: 'd' } } }
  return { swagger: '2.0', info: INFO, paths: { '/x': { post } } }
}

function fieldOf3(mediaType: string, encoding: Members): object {
  const content = { [mediaType]: { schema: { type: 'object', properties: { f: LIST } }, encoding } }
  const post = { requestBody: { content }, responses: { '200': { description: 'd' } } }
  return { openapi: '3.0.3', info: INFO, paths: { '/x': { post } } }
}

const ID = { $ref: '#/components/schemas/Id' }

function parameterOf3(place: string, schema: unknown, members: Members): object {
  const parameters = [{ in: place, name: 'f', schema, ...members }]
  const components = { schemas: { Id: { type: 'string' }, Ids: LIST } }
  return {
    openapi: '3.1.0',
    info: INFO,
    paths: { '/x': { get: { parameters, responses: { '200': { description: 'd' } } } } },
    components,
  }
}

/** The place, the schema, both ways to write its values, and whether these differ. */
const STYLES: Readonly<Record<string, readonly [string, unknown, Members, Members, 'breaking' | 'none']>> = {
  'a list in a query': ['query', LIST, {}, { explode: false }, 'breaking'],
  'a list by reference': ['query', { $ref: '#/components/schemas/Ids' }, {}, { explode: false }, 'breaking'],
  'a list or a text': ['query', { type: ['array', 'string'] }, {}, { explode: false }, 'breaking'],
  'an alternative that is a list': ['query', { oneOf: [TEXT, LIST] }, {}, { explode: false }, 'breaking'],
  'any value': ['query', {}, {}, { explode: false }, 'breaking'],
  'a text': ['query', TEXT, {}, { explode: false }, 'none'],
  'a text by reference': ['query', ID, {}, { explode: false }, 'none'],
  'a text or null': ['query', { anyOf: [ID, { type: 'null' }] }, {}, { explode: false }, 'none'],
  'a text among others': ['query', { allOf: [ID, { maxLength: 9 }] }, {}, { explode: false }, 'none'],
  'listed values': ['query', { enum: ['a', 2] }, {}, { explode: false }, 'none'],
  'a listed list': ['query', { enum: [['a']] }, {}, { explode: false }, 'breaking'],
  'a list in a header field': ['header', LIST, {}, { explode: true }, 'none'],
  'an object in a header field': ['header', { type: 'object' }, {}, { explode: true }, 'breaking'],
  'a list with labels': ['path', LIST, { style: 'label' }, { style: 'label', explode: true }, 'breaking'],
  'an object of deep fields': [
    'query',
    { type: 'object' },
    { style: 'deepObject' },
    { style: 'deepObject', explode: true },
    'none',
  ],
  'a number with reserved characters': ['query', { type: 'integer' }, {}, { allowReserved: true }, 'none'],
  'a text with reserved characters in another style': [
    'query',
    LIST,
    {},
    { explode: false, allowReserved: true },
    'breaking',
  ],
  'a header field with reserved characters': ['header', TEXT, {}, { allowReserved: true }, 'none'],
  'the default style': ['query', LIST, {}, { style: 'form', explode: true, allowReserved: false }, 'none'],
  'another style for a text': ['path', TEXT, {}, { style: 'matrix' }, 'breaking'],
}

const ANY_OR_TEXT = { oneOf: [{ type: 'string' }, {}] }
const NOT_INTEGER = { not: { type: 'integer' } }

/** Schemas of a field before and after, and what callers lose who write it as text. */
const TEXTS: Readonly<Record<string, readonly [object, object, 'breaking' | 'dangerous' | 'kept']>> = {
  'a text that two alternatives admit': [{ oneOf: [{}] }, ANY_OR_TEXT, 'breaking'],
  'a list of one that is read as a text': [{ type: 'array' }, ANY_OR_TEXT, 'breaking'],
  'a boolean that is read as a text': [{ type: 'boolean' }, { not: { type: 'string' } }, 'breaking'],
  'digits that are read as a number': [{ enum: ['7'] }, NOT_INTEGER, 'breaking'],
  'a text that may be a number': [TEXT, NOT_INTEGER, 'breaking'],
  'texts and numbers that exclude each other': [
    { type: 'integer' },
    { oneOf: [{ type: 'integer' }, { type: 'boolean' }] },
    'kept',
  ],
  'null beside a text': [TEXT, { oneOf: [{ type: 'null' }, TEXT] }, 'kept'],
  'digits that are too short for a text': [{ type: 'number' }, { ...TEXT, minLength: 2 }, 'breaking'],
  'numbers that become texts': [{ type: 'integer' }, TEXT, 'kept'],
  'null in an object of a part': [
    { type: 'object', properties: { n: { type: 'null' } } },
    { type: 'object', properties: { n: TEXT } },
    'breaking',
  ],
}

/** Forms before and after, what callers lose who send them, and what is new to readers who get them. */
type FormRow = readonly [object, object, 'breaking' | 'dangerous' | 'kept', 'breaking' | 'dangerous' | 'kept']

const FORM_ROWS: Readonly<Record<string, FormRow>> = {
  'a text of few characters as a whole number': [
    { properties: { a: { ...TEXT, maxLength: 2 } } },
    { properties: { a: { type: 'integer', maxLength: 2 }, b: {} } },
    'breaking',
    'breaking',
  ],
  'null and a text twice beside a text': [
    { dependentSchemas: { c: { properties: { c: { oneOf: [TEXT] } } } } },
    { dependentSchemas: { c: { properties: { c: { oneOf: [{ type: 'null' }, TEXT, TEXT] } } } } },
    'dangerous',
    'breaking',
  ],
  'names of a pattern that are no whole numbers': [
    { patternProperties: { '^[bc]$': TEXT } },
    { patternProperties: { '^[bc]$': NOT_INTEGER }, unevaluatedProperties: { dependentRequired: {} } },
    'breaking',
    'breaking',
  ],
  'a number beside texts of a pattern': [
    { additionalProperties: { ...TEXT, pattern: '^.{2,4}$' } },
    { properties: { d: { type: 'number' } }, additionalProperties: { pattern: '^.{2,4}$' } },
    'breaking',
    'breaking',
  ],
  'a text that was refused for two alternatives': [
    { properties: { x: { if: { type: ['number', 'null'] }, else: { oneOf: [{ maxLength: 3 }, TEXT] } } } },
    { properties: { x: { if: { type: ['number', 'null'] }, else: { oneOf: [{ maxLength: 3 }] } } } },
    'breaking',
    'dangerous',
  ],
  'a number where no text was': [
    { patternProperties: { '^a': { not: TEXT } } },
    { patternProperties: { '^a': { const: 0 } } },
    'breaking',
    'breaking',
  ],
  'listed values beside numbers': [
    { additionalProperties: { type: 'number' } },
    { properties: { a: { enum: ['1', '2'] } }, additionalProperties: { type: 'number' } },
    'breaking',
    'kept',
  ],
  'leading zeros': [
    { properties: { a: { ...TEXT, pattern: '^[0-9]{2}$' } } },
    { properties: { a: { type: 'integer', minimum: 10 } } },
    'breaking',
    'breaking',
  ],
  'a list as an item': [
    { properties: { a: { type: 'array', items: TEXT } } },
    { properties: { a: TEXT } },
    'breaking',
    'breaking',
  ],
  'a longer list': [
    { properties: { a: TEXT } },
    { properties: { a: { type: 'array', items: TEXT, minItems: 2 } } },
    'breaking',
    'breaking',
  ],
  'an item of a list': [
    { properties: { a: TEXT } },
    { properties: { a: { type: 'array', items: TEXT } } },
    // One value is a list of one, written in the same way.
    'kept',
    'breaking',
  ],
}

function formOf31(mediaType: string, direction: 'request' | 'callback', members: object): object {
  const done = { responses: { '200': { description: 'd' } } }
  const post = { requestBody: { required: true, content: { [mediaType]: { schema: { type: 'object', ...members } } } } }
  const sent = { ...post, ...done }
  const callbacks = { done: { '{$request.query.url}': { post: sent } } }
  return {
    openapi: '3.1.0',
    info: INFO,
    paths: { '/x': { post: direction === 'request' ? sent : { ...done, callbacks } } },
  }
}

function kept(worst: Worst): Exclude<Worst, 'info' | 'none'> | 'kept' {
  return worst === 'info' || worst === 'none' ? 'kept' : worst
}

function fieldOf31(schema: object): object {
  const content = { 'multipart/form-data': { schema: { type: 'object', properties: { f: schema } } } }
  const post = { requestBody: { content }, responses: { '200': { description: 'd' } } }
  return { openapi: '3.1.0', info: INFO, paths: { '/x': { post } } }
}

const FORMS = ['application/x-www-form-urlencoded', 'multipart/form-data']
const SEPARATORS = ['csv', 'ssv', 'tsv', 'pipes', 'multi']

suite('encodings', () => {
  for (const [name, [before, after, ofRequests, ofAnswers]] of Object.entries(PARTS)) {
    test(`of parts: ${name}`, () => {
      assert.equal(worstOf(multipart('request', before), multipart('request', after)), ofRequests, 'request')
      assert.equal(worstOf(multipart('response', before), multipart('response', after)), ofAnswers, 'response')
    })
  }

  for (const [name, [schema, isDescribed]] of Object.entries(DESCRIBED)) {
    test(`of a field described ${name}: its encoding ${isDescribed ? 'counts' : 'is ignored'}`, () => {
      const [before, after] = [describing(schema, {}), describing(schema, { z: { contentType: 'image/png' } })]
      const expected = isDescribed ? 'breaking' : 'none'
      assert.equal(worstOf(before, after).replace('dangerous', 'breaking'), expected)
      assert.equal(worstOf(after, before).replace('dangerous', 'breaking'), expected)
    })
  }

  for (const [name, [place, schema, before, after, worst]] of Object.entries(STYLES)) {
    test(`of parameters: ${name}`, () => {
      const sides = [parameterOf3(place, schema, before), parameterOf3(place, schema, after)] as const
      assert.equal(worstOf(...sides), worst)
      assert.equal(worstOf(sides[1], sides[0]), worst)
    })
  }

  for (const [name, [before, after, worst]] of Object.entries(TEXTS)) {
    test(`of values as texts: ${name}`, () => {
      assert.equal(kept(worstOf(fieldOf31(before), fieldOf31(after))), worst)
    })
  }

  for (const [name, [before, after, ofCallers, ofReaders]] of Object.entries(FORM_ROWS)) {
    test(`of forms as texts: ${name}`, () => {
      for (const mediaType of FORMS) {
        const worst = (direction: 'request' | 'callback'): Worst =>
          worstOf(formOf31(mediaType, direction, before), formOf31(mediaType, direction, after))
        assert.equal(kept(worst('request')), ofCallers, `${mediaType}, sent`)
        assert.equal(kept(worst('callback')), ofReaders, `${mediaType}, read`)
      }
    })
  }

  test('of media types without fields: none counts (OpenAPI 3.1.0 §4.8.14.1)', () => {
    const [before, after] = [{}, { f: { style: 'form', explode: false } }]
    assert.equal(worstOf(fieldOf3('application/json', before), fieldOf3('application/json', after)), 'none')
    assert.equal(worstOf(fieldOf3('*/*', before), fieldOf3('*/*', after)), 'breaking')
  })

  test('of styles: a content type beside one is compared where OpenAPI 3.0 does not say that it is ignored', () => {
    const [before, after] = [png, gif].map((of) => Object(of({ style: 'form' })['encoding']))
    for (const mediaType of [...FORMS, 'multipart/mixed', '*/*'])
      assert.equal(worstOf(fieldOf3(mediaType, before), fieldOf3(mediaType, after)), 'breaking', mediaType)
  })

  test('of styles: one has no meaning in a multipart body that is no form', () => {
    const styled = fieldOf3('multipart/mixed', { f: { style: 'pipeDelimited' } })
    assert.equal(worstOf(fieldOf3('multipart/mixed', {}), styled), 'none')
    assert.equal(worstOf(styled, fieldOf3('multipart/mixed', {})), 'none')
  })

  for (const mediaType of FORMS) {
    const list = (members: Members): object => field('formData', mediaType, members)

    test(`of lists in ${mediaType}: each separator of Swagger 2.0 is another one`, () => {
      for (const before of SEPARATORS) {
        for (const after of SEPARATORS) {
          const worst = worstOf(list({ collectionFormat: before }), list({ collectionFormat: after }))
          assert.equal(worst, before === after ? 'none' : 'breaking', `${before} to ${after}`)
        }
      }
      assert.equal(worstOf(list({}), list({ collectionFormat: 'csv' })), 'none')
    })

    test(`of lists in ${mediaType}: a field for each item in 3.x is multi in 2.0`, () => {
      assert.notEqual(worstOf(list({ collectionFormat: 'multi' }), fieldOf3(mediaType, {})), 'breaking')
      assert.equal(worstOf(list({}), fieldOf3(mediaType, {})), 'breaking')
      const joined = fieldOf3(mediaType, { f: { style: 'form', explode: false } })
      assert.notEqual(worstOf(list({}), joined), 'breaking')
    })
  }

  test('of lists within lists: each has a separator', () => {
    for (const [place, mediaType] of [
      ['query', 'application/json'],
      ['formData', 'multipart/form-data'],
    ] as const) {
      const nested = (members: Members): object => field(place, mediaType, { items: { ...LIST, ...members } })
      assert.equal(worstOf(nested({}), nested({ collectionFormat: 'pipes' })), 'breaking', place)
      assert.equal(worstOf(nested({}), nested({ collectionFormat: 'csv' })), 'none', place)
    }
  })
})
