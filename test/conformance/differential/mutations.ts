/**
 * What the differential run changes: groups of forms that one part of an operation can take, and the places where they stand.
 * Every ordered pair of forms of a group, at every place, is one mutation: keyword × site × direction.
 */
import { OPERATION_GROUPS } from './operations.ts'
import { SCHEMA_GROUPS, type Language, type Schema } from './schemas.ts'

/** A path item before and after one small change. */
export interface Mutation {
  /** `group site before -> after`: what a deviation is listed by. */
  readonly name: string
  readonly group: string
  readonly site: string
  readonly before: unknown
  readonly after: unknown
}

interface Site {
  readonly name: string
  readonly item: (schema: Schema) => unknown
}

const DONE = { 200: { description: 'done' } }

function request(content: unknown): unknown {
  return { post: { requestBody: { content }, responses: DONE } }
}

function response(content: unknown): unknown {
  return { get: { responses: { 200: { description: 'done', content } } } }
}

function parameter(place: string, schema: Schema): unknown {
  return { get: { parameters: [{ name: 'p', in: place, schema }], responses: DONE } }
}

function holding(schema: Schema): Schema {
  return { type: 'object', properties: { held: schema } }
}

/** Places where a schema stands, and where the reference looks: not the content of parameters, nor what comes and goes in maps. */
const SITES: readonly Site[] = [
  { name: 'query parameter', item: (schema) => parameter('query', schema) },
  { name: 'header parameter', item: (schema) => parameter('header', schema) },
  { name: 'parameter property', item: (schema) => parameter('query', holding(schema)) },
  { name: 'header parameter property', item: (schema) => parameter('header', holding(schema)) },
  { name: 'request body', item: (schema) => request({ 'application/json': { schema } }) },
  { name: 'request property', item: (schema) => request({ 'application/json': { schema: holding(schema) } }) },
  {
    name: 'request items',
    item: (schema) => request({ 'application/json': { schema: { type: 'array', items: schema } } }),
  },
  {
    name: 'request required property',
    item: (schema) => request({ 'application/json': { schema: { ...holding(schema), required: ['held'] } } }),
  },
  {
    name: 'form property',
    item: (schema) => request({ 'application/x-www-form-urlencoded': { schema: holding(schema) } }),
  },
  { name: 'text body', item: (schema) => request({ 'text/plain': { schema } }) },
  { name: 'response body', item: (schema) => response({ 'application/json': { schema } }) },
  { name: 'response property', item: (schema) => response({ 'application/json': { schema: holding(schema) } }) },
  {
    name: 'response items',
    item: (schema) => response({ 'application/json': { schema: { type: 'array', items: schema } } }),
  },
  {
    name: 'response header',
    item: (schema) => ({
      get: { responses: { 200: { description: 'done', headers: { h: { schema } } } } },
    }),
  },
]

/** Every mutation of a version of the language, in one fixed order. */
export function mutationsOf(language: Language): readonly Mutation[] {
  const schemas = SCHEMA_GROUPS.filter(({ languages }) => languages.includes(language)).flatMap(({ name, forms }) =>
    SITES.flatMap((site) => pairsOf(name, site.name, forms, site.item)),
  )
  const operations = OPERATION_GROUPS.flatMap(({ name, forms }) => pairsOf(name, 'operation', forms, (form) => form))
  return [...schemas, ...operations]
}

function pairsOf<T>(
  group: string,
  site: string,
  forms: Readonly<Record<string, T>>,
  item: (form: T) => unknown,
): readonly Mutation[] {
  const entries = Object.entries(forms)
  return entries.flatMap(([base, before]) =>
    entries
      .filter(([head]) => head !== base)
      .map(([head, after]) => ({
        name: `${group}, ${site}: ${base} -> ${head}`,
        group,
        site,
        before: item(before),
        after: item(after),
      })),
  )
}
