/** Contracts of a given size in each format but OpenAPI, and the same with one member changed: many small parts, as real ones have. */
import type { ArtifactType } from '../../engine/internal.ts'

export interface LargePair {
  readonly type: Exclude<ArtifactType, 'openapi'>
  readonly before: string
  readonly after: string
}

const WORDS = 'What the part is for, in the words of those who keep it; nothing here asks anything of anyone. '

/** Parts until the text is as long as asked for; the second text has the first part otherwise. */
function grown(bytes: number, partOf: (index: number, isChanged: boolean) => string): readonly [string[], string[]] {
  const parts: string[] = []
  for (let size = 0; size < bytes; size += parts.at(-1)?.length ?? 0) parts.push(partOf(parts.length, false))
  return [parts, [partOf(0, true), ...parts.slice(1)]]
}

type Writer = (bytes: number) => readonly [before: string, after: string]

/** Parts between what opens and what closes a document. */
function written(
  open: string,
  glue: string,
  close: string,
  partOf: (index: number, isChanged: boolean) => string,
): Writer {
  return (bytes) => {
    const [before, after] = grown(bytes, partOf)
    return [open + before.join(glue) + close, open + after.join(glue) + close]
  }
}

function objectSchema(isChanged: boolean): unknown {
  return {
    type: 'object',
    required: isChanged ? ['id', 'size'] : ['id'],
    properties: {
      id: { type: 'string', description: WORDS },
      size: { type: 'integer', minimum: 0 },
      tags: { type: 'array', items: { type: 'string' } },
    },
  }
}

const WRITERS: Readonly<Record<LargePair['type'], Writer>> = {
  graphql: written(
    'type Query { first: T0 }\n',
    '\n',
    '',
    (index, isChanged) =>
      `"${WORDS}" type T${index} { id: ID! name(upper: Boolean = false): String next: T${index} ${isChanged ? '' : 'size: Int'} }`,
  ),
  protobuf: written(
    'syntax = "proto3";\npackage large;\n',
    '\n',
    '\nservice S { rpc Get(M0) returns (M0); }\n',
    (index, isChanged) =>
      `// ${WORDS}\nmessage M${index} { ${isChanged ? 'int32' : 'string'} id = 1; int64 size = 2; repeated string tags = 3; M${index} next = 4; }`,
  ),
  asyncapi: written(
    '{"asyncapi":"2.6.0","info":{"title":"t","version":"1"},"channels":{',
    ',',
    '}}',
    (index, isChanged) =>
      entry(`large/${index}`, { description: WORDS, publish: { message: { payload: objectSchema(isChanged) } } }),
  ),
  mcp_manifest: written('{"tools":[', ',', ']}', (index, isChanged) =>
    JSON.stringify({ name: `tool_${index}`, description: WORDS, inputSchema: objectSchema(isChanged) }),
  ),
  agent_tools: written('[', ',', ']', (index, isChanged) =>
    JSON.stringify({
      type: 'function',
      function: { name: `tool_${index}`, description: WORDS, parameters: objectSchema(isChanged) },
    }),
  ),
  json_schema: written(
    '{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{',
    ',',
    '}}',
    (index, isChanged) => entry(`part${index}`, objectSchema(isChanged)),
  ),
  k8s_crd: written(
    '',
    '---\n',
    '',
    (index, isChanged) =>
      `${JSON.stringify({
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `parts${index}.example.com` },
        spec: {
          group: 'example.com',
          scope: 'Namespaced',
          names: { kind: `Part${index}`, plural: `parts${index}` },
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: objectSchema(isChanged) } }],
        },
      })}\n`,
  ),
}

function entry(name: string, value: unknown): string {
  return `${JSON.stringify(name)}:${JSON.stringify(value)}`
}

export const LARGE_TYPES = Object.keys(WRITERS).filter((type): type is LargePair['type'] =>
  Object.hasOwn(WRITERS, type),
)

export function largePair(type: LargePair['type'], bytes: number): LargePair {
  const [before, after] = WRITERS[type](bytes)
  return { type, before, after }
}
