/**
 * A first bound and another pattern are warnings, because documents often state late what servers always did. Where the contract
 * stated the value that is refused now, they are breaking.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { alarmsOf } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

interface Row {
  readonly before: Json
  readonly after: Json
  /** The end of the rule's id. */
  readonly rule: string
}

const listed = { type: 'string', enum: ['a', 'ab'] }
const STATED: Readonly<Record<string, Row>> = {
  'a listed text, by a first length': {
    before: listed,
    after: { type: 'string', maxLength: 1 },
    rule: 'max-length-set',
  },
  'a listed text, by another length': { before: listed, after: { ...listed, maxLength: 1 }, rule: 'max-length-set' },
  'a listed text, by another pattern': {
    before: { ...listed, pattern: '^a' },
    after: { ...listed, pattern: '^ab' },
    rule: 'pattern-changed',
  },
  'a constant, by a first maximum': { before: { const: 5 }, after: { const: 5, maximum: 3 }, rule: 'max-set' },
  'a number within the former maximum': {
    before: { type: 'number', maximum: 10 },
    after: { type: 'number', exclusiveMaximum: 3 },
    rule: 'exclusive-max-set',
  },
  'a number within the former exclusive maximum': {
    before: { type: 'number', exclusiveMaximum: 10 },
    after: { type: 'number', maximum: 3 },
    rule: 'max-set',
  },
  'a number within the former minimum': {
    before: { type: 'number', minimum: 1 },
    after: { type: 'number', exclusiveMinimum: 3 },
    rule: 'exclusive-min-set',
  },
  'a number within the former exclusive minimum': {
    before: { type: 'number', exclusiveMinimum: 1 },
    after: { type: 'number', minimum: 3 },
    rule: 'min-set',
  },
  'every text, by a length below the least': {
    before: { type: 'string', minLength: 3 },
    after: { type: 'string', maxLength: 2 },
    rule: 'max-length-set',
  },
}

const NOT_STATED: Readonly<Record<string, Row>> = {
  'a listed text that another keyword refuses': {
    before: listed,
    after: { type: 'string', enum: ['a'], maxLength: 5 },
    rule: 'max-length-set',
  },
  'every text, by another keyword': {
    before: { type: 'string', minLength: 3 },
    after: { type: 'string', enum: ['a'], maxLength: 9 },
    rule: 'max-length-set',
  },
  'a pattern without texts of the former one': {
    before: { type: 'string', pattern: '^a' },
    after: { type: 'string', pattern: '^b' },
    rule: 'pattern-changed',
  },
  'a first length': { before: { type: 'string' }, after: { type: 'string', maxLength: 1 }, rule: 'max-length-set' },
  'a first maximum beside a minimum': {
    before: { type: 'number', minimum: 1 },
    after: { type: 'number', minimum: 1, maximum: 5 },
    rule: 'max-set',
  },
  'a pattern that shares texts with the former one': {
    before: { type: 'string', pattern: '^a' },
    after: { type: 'string', pattern: '^[a-c]b' },
    rule: 'pattern-changed',
  },
}

function api(schema: Json): Json {
  const requestBody = { required: true, content: { 'application/json': { schema } } }
  const operation = { requestBody, responses: { 200: { description: 'done' } } }
  return { openapi: '3.1.0', info: { title: 't', version: '1' }, paths: { '/x': { post: operation } } }
}

const PLACES = {
  'a request': ['openapi', (schema: Json) => api(schema)],
  'a property of a request': ['openapi', (schema: Json) => api({ type: 'object', properties: { p: schema } })],
  'a JSON Schema': ['json_schema', (schema: Json) => schema],
} as const

for (const [place, [type, whole]] of Object.entries(PLACES)) {
  for (const [rows, level] of [
    [STATED, 'breaking'],
    [NOT_STATED, 'dangerous'],
  ] as const) {
    suite(`what ${place} ${level === 'breaking' ? 'stated' : 'did not state'}`, () => {
      for (const [name, { before, after, rule }] of Object.entries(rows)) {
        test(`${name}: ${level}`, () => {
          const found = alarmsOf(type, whole(before), whole(after)).filter((alarm) => alarm.rule.endsWith(rule))
          assert.deepEqual(
            found.map((alarm) => alarm.level),
            [level],
          )
          if (level === 'breaking') assert.match(found[0]?.message ?? '', / refused, such as /)
        })
      }
    })
  }
}
