/** A property may be called like a member of every JavaScript object. What changes there is judged like a change of any other one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'
import { PROTOTYPE_NAMES } from '../../fakes/name-positions.ts'

/** Schemas with `NAME` in place of the name. */
const CHANGES: Readonly<Record<string, readonly [before: object, after: object]>> = {
  'another type in a part': [inPart('string'), inPart('integer')],
  'out of a part, with another type': [inPart('string'), plain('integer')],
  'into a part, with another type': [plain('string'), inPart('integer')],
  'new beside a condition, where no others are admitted': [
    { properties: { q: { type: 'string' } }, if: { required: ['q'] }, unevaluatedProperties: false },
    {
      properties: { q: { type: 'string' }, NAME: { type: 'integer' } },
      if: { required: ['q'] },
      unevaluatedProperties: false,
    },
  ],
  'new in an alternative': [alternatives({}), alternatives({ NAME: { type: 'object' } })],
  'removed from an alternative': [alternatives({ NAME: { type: 'object' } }), alternatives({})],
}

function inPart(type: string): object {
  return { type: 'object', allOf: [{ properties: { q: { type: 'string' } } }, { properties: { NAME: { type } } }] }
}

function plain(type: string): object {
  return { type: 'object', properties: { q: { type: 'string' }, NAME: { type } } }
}

function alternatives(more: object): object {
  return {
    oneOf: [
      { type: 'object', properties: { q: { type: 'string' }, ...more }, required: ['q'] },
      { type: 'object', properties: { r: { type: 'string' } }, required: ['r'], additionalProperties: false },
    ],
  }
}

function written(schema: object, name: string, isRequest: boolean): string {
  const content = { 'application/json': { schema } }
  const post = isRequest
    ? { requestBody: { required: true, content }, responses: { 200: { description: 'done' } } }
    : { responses: { 200: { description: 'done', content } } }
  const document = { openapi: '3.1.0', info: { title: 't', version: '1' }, paths: { '/p': { post } } }
  return JSON.stringify(document).replaceAll('"NAME"', JSON.stringify(name))
}

function foundIn([base, head]: readonly [object, object], name: string, isRequest: boolean): readonly string[] {
  const [before, after] = [written(base, name, isRequest), written(head, name, isRequest)]
  const compared = compare({ id: 'x', type: 'openapi', before, after }, {}, sha256Hex)
  assert.ok(compared.ok)
  return compared.value.groups.map(({ rule, level }) => `${rule} ${level}`).sort()
}

for (const [what, change] of Object.entries(CHANGES))
  test(`${what}: the name of the property does not count`, () => {
    for (const isRequest of [true, false])
      for (const name of PROTOTYPE_NAMES)
        assert.deepEqual(foundIn(change, name, isRequest), foundIn(change, 'anyOther', isRequest), name)
  })
