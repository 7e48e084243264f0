/** openapi.json, made from the route table: every route that is served, with the schemas that requests are checked against. */
import { ERRORS, type ErrorCode } from '../errors/errors.ts'
import { plainSchema } from '../settings/input-schema.ts'
import { packageVersion } from '../runtime/package-files.ts'
import { isJsonObject } from '../json/strict-json.ts'
import type { ApiRoute } from './route.ts'
import { Problem } from './schemas/shapes.ts'

type OpenApiNode = Readonly<Record<string, unknown>>

/** Answers that every route can return. */
const COMMON_ERRORS: readonly ErrorCode[] = ['FORBIDDEN', 'NOT_ACCEPTABLE', 'INTERNAL', 'STORE_UNAVAILABLE']
const BODY_ERRORS: readonly ErrorCode[] = ['INVALID_INPUT', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'OVERLOADED']
const COUNTED_ERRORS: readonly ErrorCode[] = ['RATE_LIMITED', 'QUOTA_EXCEEDED']

/** @param publicUrl address that clients use; null: relative to where the document was read */
export function describeApi(routes: readonly ApiRoute[], publicUrl: string | null): OpenApiNode {
  const components = new Map<string, unknown>()
  const hoist = (schema: unknown): unknown => hoistTitled(schema, components)
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    for (const [index, path] of route.paths.entries()) {
      const item = (paths[path] ??= {})
      item[route.method.toLowerCase()] = describedOperation(route, index, hoist)
    }
  }
  hoist(plainSchema(Problem))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Preflight Gateway',
      version: packageVersion(),
      description: 'Compares contracts, decides, and signs a receipt for exactly one operation.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl ?? '/' }],
    paths,
    components: {
      schemas: Object.fromEntries([...components].toSorted(([a], [b]) => (a < b ? -1 : 1))),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key.' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The same key in another header.' },
      },
    },
  }
}

function describedOperation(route: ApiRoute, alias: number, hoist: (schema: unknown) => unknown): OpenApiNode {
  const parameters = [
    ...pathParameters(route),
    ...queryParameters(route, hoist),
    ...headerParameters(route),
    CORRELATION_PARAMETER,
  ]
  return {
    // An alias is another operation of its own to a client generator.
    operationId: alias === 0 ? route.operationId : `${route.operationId}V${alias}`,
    tags: [route.tag],
    summary: route.summary,
    security: securityOf(route),
    parameters,
    ...(route.body !== undefined && { requestBody: requestBody(route, hoist) }),
    responses: { ...goodAnswers(route, hoist), ...errorAnswers(route) },
  }
}

function securityOf({ access, keyOptional }: ApiRoute): readonly OpenApiNode[] {
  const keys = [{ bearer: [] }, { apiKey: [] }]
  if (access !== 'public') return keys
  return keyOptional === true ? [{}, ...keys] : []
}

const CORRELATION_PARAMETER = {
  name: 'X-Correlation-ID',
  in: 'header',
  required: false,
  description: 'Used when it has the right form; else a new one is made.',
  schema: { type: 'string', pattern: '^[A-Za-z0-9_.:-]{1,200}$' },
}

function pathParameters({ params = {} }: ApiRoute): readonly OpenApiNode[] {
  return Object.entries(params).map(([name, description]) => ({
    name,
    in: 'path',
    required: true,
    description,
    schema: { type: 'string' },
  }))
}

function headerParameters({ headers = {} }: ApiRoute): readonly OpenApiNode[] {
  return Object.entries(headers).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  }))
}

function queryParameters({ query }: ApiRoute, hoist: (schema: unknown) => unknown): readonly OpenApiNode[] {
  const { properties, required = [] } = query === undefined ? {} : plainSchema(query)
  return Object.entries(properties ?? {}).map(([name, schema]) => {
    const described = hoist(schema)
    const description = isJsonObject(described) ? described['description'] : undefined
    return {
      name,
      in: 'query',
      required: required.includes(name),
      ...(typeof description === 'string' && { description }),
      schema: described,
    }
  })
}

function requestBody(
  { body, bodyOptional, consumes = [] }: ApiRoute,
  hoist: (schema: unknown) => unknown,
): OpenApiNode {
  const schema = body === undefined ? {} : hoist(plainSchema(body))
  return {
    required: bodyOptional !== true,
    content: Object.fromEntries(['application/json', ...consumes].map((type) => [type, { schema }])),
  }
}

const text = { schema: { type: 'string' } }
const ANSWER_HEADERS = { 'X-Correlation-ID': text }
/** Answers of counted routes; `unlimited` where the plan sets no bound. */
const RATE_HEADERS = {
  'X-RateLimit-Limit-Minute': text,
  'X-RateLimit-Remaining-Minute': text,
  'X-RateLimit-Limit-Monthly': text,
  'X-RateLimit-Remaining-Monthly': text,
}

function goodAnswers({ answers, counted }: ApiRoute, hoist: (schema: unknown) => unknown): OpenApiNode {
  return Object.fromEntries(
    Object.entries(answers).map(([status, { description, content }]) => [
      status,
      {
        description,
        headers: counted === true ? { ...ANSWER_HEADERS, ...RATE_HEADERS } : ANSWER_HEADERS,
        content: Object.fromEntries(
          Object.entries(content).map(([type, schema]) => [type, { schema: hoist(plainSchema(schema)) }]),
        ),
      },
    ]),
  )
}

/** One answer for each status, naming the codes that it can have. */
function errorAnswers(route: ApiRoute): OpenApiNode {
  const codes = new Set<ErrorCode>([
    ...COMMON_ERRORS,
    ...(route.body === undefined ? [] : BODY_ERRORS),
    ...(route.query === undefined ? [] : (['INVALID_INPUT'] as const)),
    ...(route.access === 'public' ? [] : (['UNAUTHENTICATED'] as const)),
    ...(route.counted === true ? COUNTED_ERRORS : []),
    ...(route.errors ?? []),
  ])
  const byStatus = Map.groupBy(codes, (code) => String(ERRORS[code].status))
  return Object.fromEntries(
    [...byStatus].map(([status, together]) => [
      status,
      {
        description: together.map((code) => `\`${code}\`: ${ERRORS[code].message}`).join(' '),
        headers: ANSWER_HEADERS,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  )
}

/** A schema titled like a type name is under components once, and a reference everywhere else. */
const COMPONENT_TITLE = /^[A-Z][A-Za-z]+$/

/** Keywords whose members are schemas by names that somebody chose: a member called `title` or `default` is no keyword. */
const MAPS_OF_SCHEMAS: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'dependentSchemas'])

function hoistTitled(schema: unknown, components: Map<string, unknown>): unknown {
  if (Array.isArray(schema)) return schema.map((item) => hoistTitled(item, components))
  if (!isJsonObject(schema)) return schema
  const { $schema: _dialect, $id: _id, default: preset, ...rest } = schema
  const { title } = rest
  const inner: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(rest))
    inner[name] = MAPS_OF_SCHEMAS.has(name) ? hoistMembers(value, components) : hoistTitled(value, components)
  if (preset !== undefined) inner['description'] = withDefault(inner['description'], preset)
  if (typeof title !== 'string' || !COMPONENT_TITLE.test(title)) return inner
  const { title: _title, ...component } = inner
  components.set(title, component)
  return { $ref: `#/components/schemas/${title}` }
}

function hoistMembers(schemas: unknown, components: Map<string, unknown>): unknown {
  if (!isJsonObject(schemas)) return schemas
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, hoistTitled(schema, components)]))
}

/** In words: generators of clients take a member with the keyword `default` for one that is always there. */
function withDefault(description: unknown, preset: unknown): string {
  const stated = `Default: ${JSON.stringify(preset)}.`
  return typeof description === 'string' ? `${description} ${stated}` : stated
}
