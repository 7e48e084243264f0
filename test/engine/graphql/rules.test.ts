/** Every rule about GraphQL schemas fires in its case, at its level, place and operations, and stays silent where nothing changed. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { parse } from 'yaml'
import { graphqlRules } from '../../../engine/rules/graphql/rows.ts'
import { ruleOf } from '../../../engine/rules/table.ts'
import { at, listAt, textAt } from '../../json.ts'
import { compared } from './compared.ts'

const CASES = new URL('../../rules/graphql/', import.meta.url)
const ids = readdirSync(CASES)

function text(id: string, file: string): string {
  return readFileSync(new URL(`${id}/${file}`, CASES), 'utf8')
}

test('every rule has a case, and every case a rule', () => {
  const missing = graphqlRules().filter(({ id }) => !ids.includes(id))
  assert.deepEqual(
    missing.map(({ id }) => id),
    [],
  )
  assert.deepEqual(
    ids.filter((id) => ruleOf(id) === undefined),
    [],
  )
})

for (const id of ids) {
  suite(id, () => {
    const expect: unknown = parse(text(id, 'expect.yaml'))
    const [before, after] = [text(id, 'before.graphql'), text(id, 'after.graphql')]

    test('fires at its level, place and operations', () => {
      assert.equal(textAt(expect, 'rule'), id)
      const { groups } = compared(before, after)
      const group = groups.find(({ rule }) => rule === id)
      assert.ok(group, `found only ${groups.map(({ rule }) => rule).join(', ') || 'nothing'}`)
      assert.equal(group.level, at(expect, 'level'))
      assert.equal(group.location, at(expect, 'location'))
      const operations = group.occurrences.flatMap(({ operation }) =>
        operation === null ? [] : [`${operation.method.toLowerCase()} ${operation.path}`],
      )
      assert.deepEqual(operations, listAt(expect, 'operations'))
      assert.doesNotMatch(`${group.message} ${group.explanation} ${group.fix}`, /\{(?:name|before|after|detail)\}/)
      assert.ok(group.line !== null && group.column !== null)
    })

    test('is silent where nothing changed', () => {
      assert.deepEqual(compared(before, before).groups, [])
      assert.deepEqual(compared(after, after).groups, [])
    })
  })
}
