/** Every rule about protobuf fires in its case, at its level, place and rpcs, and stays silent where nothing changed. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { parse } from 'yaml'
import { protoRules } from '../../../engine/rules/protobuf/rows.ts'
import { at } from '../../json.ts'
import { comparedProtobuf } from './contracts.ts'

const CASES = new URL('../../rules/protobuf/', import.meta.url)
const ids = readdirSync(CASES)

function text(id: string, side: 'before' | 'after'): string {
  const alone = new URL(`${id}/${side}.proto`, CASES)
  return readFileSync(existsSync(alone) ? alone : new URL(`${id}/${side}.json`, CASES), 'utf8')
}

test('every rule has a case, and every case a rule', () => {
  assert.deepEqual(
    protoRules()
      .map(({ id }) => id)
      .sort(),
    [...ids].sort(),
  )
})

for (const id of ids) {
  suite(id, () => {
    const expect: unknown = parse(readFileSync(new URL(`${id}/expect.yaml`, CASES), 'utf8'))

    test('fires at its level, place and rpcs', () => {
      const { groups } = comparedProtobuf(text(id, 'before'), text(id, 'after'))
      const group = groups.find(({ rule }) => rule === id)
      assert.ok(group, `found only ${groups.map(({ rule }) => rule).join(', ') || 'nothing'}`)
      assert.equal(group.level, at(expect, 'level'))
      assert.equal(group.location, at(expect, 'location'))
      assert.ok(group.line !== null && group.column !== null)
      const operations = group.occurrences.flatMap(({ operation }) =>
        operation === null ? [] : [`${operation.method} ${operation.path}`],
      )
      assert.deepEqual(operations, at(expect, 'operations'))
      assert.doesNotMatch(`${group.message} ${group.explanation} ${group.fix}`, /\{(?:name|before|after)\}/)
    })

    test('is silent where nothing changed', () => {
      assert.deepEqual(comparedProtobuf(text(id, 'before'), text(id, 'before')).groups, [])
      assert.deepEqual(comparedProtobuf(text(id, 'after'), text(id, 'after')).groups, [])
    })
  })
}
