/** docs/protobuf.md names every rule with its level and the rules of buf that it stands for; and no rule of buf is left out. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { bufRulesOf, PROTO_RULES } from '../../../engine/rules/protobuf/rows.ts'
import { rulesIn } from '../../../engine/rules/row.ts'
import { textsAt } from '../../json.ts'

const BUF_RULES = new URL('../../../../shared/conformance/protobuf/rules.json', import.meta.url)

test('the table of the page is the table of the rules', () => {
  const page = readFileSync(new URL('../../../docs/protobuf.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `(proto-[^`]+)` \| (\w+) \| ([^|]+) \|$/gm)].map(([, ...cells]) => cells)
  const rules = rulesIn(PROTO_RULES).map(({ id, level }) => [id, level, bufRulesOf(id).join(', ') || '–'])
  assert.deepEqual(rows, rules)
})

test('every rule of buf is some rule’s', (t) => {
  if (!existsSync(BUF_RULES)) return t.skip('the rules of buf lie beside the checkout and are absent')
  const known: unknown = JSON.parse(readFileSync(BUF_RULES, 'utf8'))
  assert.ok(Array.isArray(known))
  const covered = new Set(rulesIn(PROTO_RULES).flatMap(({ id }) => bufRulesOf(id)))
  assert.deepEqual(
    textsAt(known, 'id').filter((id) => !covered.has(id)),
    [],
  )
  assert.deepEqual([...covered].sort(), textsAt(known, 'id'))
})
