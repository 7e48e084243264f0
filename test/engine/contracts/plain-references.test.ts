/** Dynamic references are followed in every format that has them, also beside another reference. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compare, type ArtifactType } from '../../../engine/internal.ts'
import { sha256 } from '../../conformance/openapi-run.ts'

/** A property whose values a reference bounds: what the reference leads to changes from a string to an integer. */
function schemaOf(reference: object, type: string): object {
  const $defs = { N: { $dynamicAnchor: 'n', type }, Any: {} }
  return { type: 'object', properties: { v: reference }, required: ['v'], $defs }
}

const REFERENCES = {
  'a dynamic reference': { $dynamicRef: '#n' },
  'one beside a reference': { $ref: '#/$defs/Any', $dynamicRef: '#n' },
  'one beside allOf and a reference': { allOf: [{}], $ref: '#/$defs/Any', $dynamicRef: '#n' },
} as const

const FORMATS: Readonly<Partial<Record<ArtifactType, (schema: object) => object>>> = {
  json_schema: (schema) => ({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema }),
  mcp_manifest: (inputSchema) => ({ tools: [{ name: 'act', inputSchema }] }),
  agent_tools: (parameters) => [{ type: 'function', function: { name: 'act', parameters } }],
}

suite('dynamic references', () => {
  for (const [format, write] of Object.entries(FORMATS)) {
    for (const [name, reference] of Object.entries(REFERENCES)) {
      test(`${format}: ${name} leads to what changed`, () => {
        const [before, after] = ['string', 'integer'].map((type) => JSON.stringify(write(schemaOf(reference, type))))
        const type = Object.keys(FORMATS).find((one): one is ArtifactType => one === format) ?? 'json_schema'
        const compared = compare({ id: 'x', type, before: before ?? '', after: after ?? '' }, {}, sha256)
        assert.ok(compared.ok)
        assert.ok(compared.value.groups.some(({ level }) => level === 'breaking'))
      })
    }
  }
})
