/** Descriptions in the style of public servers have no sign of poisoning, and attacks have one; known errors are listed. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { load } from 'js-yaml'
import { findSuspicions } from '../../../engine/diff/mcp/suspicion.ts'
import { listAt } from '../../json.ts'

const TEXTS = load(readFileSync(new URL('descriptions.yaml', import.meta.url), 'utf8'))
const OWNER = { tools: new Set(['send_email', 'search']), own: null }

/** The texts of a list that have a sign, or that have none. */
function textsWith(list: string, hasSign: boolean): readonly unknown[] {
  return listAt(TEXTS, list).filter((text) => findSuspicions(String(text), OWNER).length > 0 === hasSign)
}

test('harmless descriptions have no sign, except for those listed as alarms', () => {
  assert.deepEqual(textsWith('harmless', true), [])
  assert.deepEqual(textsWith('alarms', false), [])
  assert.ok(listAt(TEXTS, 'harmless').length >= (100 * listAt(TEXTS, 'alarms').length) / 2)
})

test('attacks have a sign, except for those listed as missed', () => {
  assert.deepEqual(textsWith('attacks', false), [])
  assert.deepEqual(textsWith('missed', true), [])
  assert.ok(listAt(TEXTS, 'attacks').length > 75)
})
