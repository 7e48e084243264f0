/** Schemas that admit nothing by a slip. What changes in them is judged as in any other. */
import { checkElements, type ElementRow } from '../elements.ts'

type Json = Readonly<Record<string, unknown>>

const TEXT = { type: 'string' }

const SLIPS: Readonly<Record<string, (schema: Json) => Json>> = {
  'a required property that is forbidden': (schema) => ({
    type: 'object',
    required: ['gone'],
    properties: { gone: false, held: schema },
  }),
  'parts that refuse the names of each other': (schema) => ({
    allOf: [
      { type: 'object', additionalProperties: false, required: ['held'], properties: { held: schema } },
      { type: 'object', additionalProperties: false, required: ['name'], properties: { name: TEXT } },
    ],
  }),
  'a list that is too short for itself': (schema) => ({ type: 'array', minItems: 3, maxItems: 2, items: schema }),
  'a map with a name that is forbidden': (schema) => ({
    type: 'object',
    required: ['gone'],
    properties: { gone: false },
    additionalProperties: schema,
  }),
  'two types at once': (schema) => ({ type: 'object', properties: { held: schema }, allOf: [{ type: 'string' }] }),
  'bounds that exclude each other': (schema) => ({
    type: 'object',
    properties: { held: schema },
    minProperties: 3,
    maxProperties: 2,
  }),
}

const INSIDE: readonly ElementRow<Json>[] = [
  ['another type', TEXT, { type: 'boolean' }, 'breaking', 'breaking'],
  ['a value of an enum', { enum: ['a', 'b'] }, { enum: ['a'] }, 'breaking', 'info'],
  ['a bound', { type: 'integer', minimum: 1 }, { type: 'integer', minimum: 2 }, 'breaking', 'info'],
]

function withBody(schema: Json): Json {
  const operation = {
    requestBody: { content: { 'application/json': { schema } } },
    responses: { 200: { description: 'done' } },
  }
  return { openapi: '3.1.0', info: { title: 't', version: '1' }, paths: { '/things': { post: operation } } }
}

for (const [slip, write] of Object.entries(SLIPS))
  checkElements(`within ${slip}`, 'openapi', INSIDE, (schema) => withBody(write(schema)))
