/**
 * Contracts with many parts of one kind, all of which change. The parts of each kind could all be compared with each
 * other. Then four times as many parts would take 16 times as long.
 */
import type { ArtifactType } from '../../engine/internal.ts'

export interface WidePair {
  readonly name: string
  readonly type: ArtifactType
  /** The contract with so many parts, before the change (0) and after it (1). */
  readonly write: (parts: number, side: 0 | 1) => string
}

function list<T>(count: number, part: (index: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, index) => part(index))
}

function map(count: number, part: (index: number) => readonly [string, unknown]): object {
  return Object.fromEntries(list(count, part))
}

const DONE = { responses: { 200: { description: 'done' } } }

function openapi(name: string, parts: (count: number, side: 0 | 1) => object): WidePair {
  const write: WidePair['write'] = (count, side) =>
    JSON.stringify({
      openapi: '3.1.0',
      info: { title: 't', version: '1' },
      paths: { '/a': { post: DONE } },
      ...parts(count, side),
    })
  return { name, type: 'openapi', write }
}

function posted(name: string, operation: (count: number, side: 0 | 1) => object): WidePair {
  return openapi(name, (count, side) => ({ paths: { '/a': { post: { ...DONE, ...operation(count, side) } } } }))
}

function body(name: string, schema: (count: number, side: 0 | 1) => object): WidePair {
  return posted(name, (count, side) => ({
    requestBody: { content: { 'application/json': { schema: schema(count, side) } } },
  }))
}

function since32({ write, ...pair }: WidePair): WidePair {
  return { ...pair, write: (parts, side) => write(parts, side).replace('"3.1.0"', '"3.2.0"') }
}

function shared(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` }
}

const SCHEMES = { type: 'apiKey', in: 'header' }

const OPENAPI: readonly WidePair[] = [
  openapi('paths that are renamed', (count, side) => ({
    paths: map(count, (at) => [`/a${at}${side}/b`, { get: DONE }]),
  })),
  openapi('servers', (count, side) => ({
    servers: list(count, (at) => ({
      url: `https://h${at}${side}/{v}`,
      variables: { v: { default: '1', enum: list(8, String) } },
    })),
  })),
  openapi('security alternatives', (count, side) => ({
    security: list(count, (at) => ({ [`k${at}`]: [], [`k${(at + 1 + side) % count}`]: [] })),
    components: { securitySchemes: map(count, (at) => [`k${at}`, { ...SCHEMES, name: `h${at}` }]) },
  })),
  posted('parameters', (count, side) => ({
    parameters: list(count, (at) => ({ name: `p${at}${side}`, in: 'query', schema: { type: 'string' } })),
  })),
  posted('media types', (count, side) => ({
    requestBody: { content: map(count, (at) => [`application/x${at}${side}+json`, {}]) },
  })),
  posted('ranges of media types', (count, side) => ({
    requestBody: { content: map(count, (at) => [at % 2 === 0 ? `a${at}${side}/*` : `a${at + side}/b`, {}]) },
  })),
  posted('callbacks', (count, side) => ({
    callbacks: map(count, (at) => [`c${at}`, { [`{$url}${side}`]: { post: DONE } }]),
  })),
  body('listed values', (count, side) => ({ enum: list(count, (at) => ({ at: at + side })) })),
  body('alternatives of one member each', (count, side) => ({
    oneOf: list(count, (at) => ({ type: 'object', properties: { k: { const: `${side}${at}` } }, required: ['k'] })),
  })),
  openapi('paths that take calls of a template', (count, side) => ({
    paths: {
      ...map(count, (at) => [`/a/{x}/b${at}/{y}`, { get: DONE }]),
      ...(side === 1 && map(count, (at) => [`/a/c/b${at}/d`, { get: DONE }])),
    },
  })),
  openapi('paths that each take calls of every template', (count, side) => ({
    paths: {
      ...map(count, (at) => [`/{x${at}}`, { get: DONE }]),
      ...(side === 1 && map(count, (at) => [`/b${at}`, { get: DONE }])),
    },
  })),
  since32(
    posted('parts by position', (count, side) => ({
      requestBody: {
        content: {
          'multipart/mixed': {
            schema: { type: 'array', prefixItems: list(count, () => ({ type: 'string' })) },
            prefixEncoding: list(count, () => ({ contentType: side === 0 ? 'application/json' : 'text/plain' })),
          },
        },
      },
    })),
  ),
  openapi('values of a discriminator', (count, side) => ({
    paths: { '/a': { post: { ...DONE, requestBody: { content: { 'application/json': { schema: shared('U') } } } } } },
    components: {
      schemas: {
        U: {
          oneOf: list(count, (at) => shared(`T${at}`)),
          discriminator: { propertyName: 'k', mapping: map(count, (at) => [`m${at}${side}`, shared(`T${at}`).$ref]) },
        },
        ...map(count, (at) => [`T${at}`, { type: 'object', required: ['k'], properties: { k: { type: 'string' } } }]),
      },
    },
  })),
  body('patterns of names', (count, side) => ({
    type: 'object',
    patternProperties: map(count, (at) => [`^p${at}$`, { minimum: side }]),
    properties: map(count, (at) => [`p${at}`, { maximum: 5 }]),
  })),
  body('places of a tuple', (count, side) => ({
    type: 'array',
    prefixItems: list(count, (at) => ({ type: 'integer', minimum: at + side })),
  })),
]

function json(name: string, type: ArtifactType, contract: (count: number, side: 0 | 1) => object): WidePair {
  return { name, type, write: (count, side) => JSON.stringify(contract(count, side)) }
}

const OTHERS: readonly WidePair[] = [
  json('tools that are renamed', 'mcp_manifest', (count, side) => ({
    tools: list(count, (at) => ({
      name: `tool_${at}_${side}`,
      description: `Does number ${at}.`,
      inputSchema: { type: 'object', properties: { [`a${at}`]: { type: 'string' } } },
    })),
  })),
  json('messages of a channel', 'asyncapi', (count, side) => ({
    asyncapi: '3.0.0',
    info: { title: 't', version: '1' },
    channels: {
      c: { address: 'a', messages: map(count, (at) => [`m${at}`, { payload: { required: [`p${at}${side}`] } }]) },
    },
    operations: { o: { action: 'send', channel: { $ref: '#/channels/c' } } },
  })),
  json('operations with all messages of a channel', 'asyncapi', (count, side) => ({
    asyncapi: '3.0.0',
    info: { title: 't', version: '1' },
    channels: { c: { address: 'a', messages: map(count, (at) => [`m${at}`, { payload: { minLength: side } }]) } },
    operations: map(count, (at) => [`o${at}`, { action: 'send', channel: { $ref: '#/channels/c' } }]),
  })),
  json('definitions with addresses', 'json_schema', (count, side) => ({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $ref: '#/$defs/d0',
    $defs: map(count, (at) => [
      `d${at}`,
      {
        $id: `https://x/${at}`,
        properties: { v: { minimum: side }, n: { $ref: `https://x/${at - (at % 10) + ((at + 1) % 10)}` } },
      },
    ]),
  })),
  {
    name: 'types that are renamed',
    type: 'graphql',
    write: (count, side) =>
      `type Query { a: T0_${side} }\n${list(count, (at) => `type T${at}_${side} { id: ID b: T${(at + 1) % count}_${side} }`).join('\n')}`,
  },
  {
    name: 'fields that are renamed',
    type: 'protobuf',
    write: (count, side) =>
      `syntax = "proto3"; message M { ${list(count, (at) => `string f${at}_${side} = ${at + 1};`).join('\n')} }`,
  },
]

export const WIDE_PAIRS: readonly WidePair[] = [...OPENAPI, ...OTHERS]
