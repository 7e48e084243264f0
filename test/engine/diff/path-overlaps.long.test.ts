/** Paths that are added beside templated ones: which of them take calls that a template answered, and which cannot. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { FindingGroup } from '../../../engine/model/finding.ts'
import { compareOpenApi } from '../../../engine/diff/openapi/compare.ts'
import { sha256 } from '../../conformance/openapi-run.ts'

const DONE = { responses: { '200': { description: 'done' } } }
const TEXT = { type: 'string' }

function contract(paths: Readonly<Record<string, object>>): string {
  return JSON.stringify({ openapi: '3.1.0', info: { title: 't', version: '1' }, paths })
}

/** A path item with its parameters, as far as they are in the table. */
function itemOf(path: string, schema: object): object {
  const names = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name)
  return { parameters: names.map((name) => ({ name, in: 'path', required: true, schema })), get: DONE }
}

function shadowedBy(old: string, added: string, schema: object = TEXT): readonly string[] {
  const paths = { [old]: itemOf(old, schema) }
  const compared = compareOpenApi(contract(paths), contract({ ...paths, [added]: itemOf(added, TEXT) }), {}, sha256)
  assert.ok(compared.ok)
  return compared.value.groups.filter(({ rule }) => rule === 'api-path-shadowed').map(({ level }) => level)
}

/** The path that was there, the one that is added, the schema of parameters, and whether calls go to the added one. */
const CASES: Readonly<Record<string, readonly [old: string, added: string, schema: object, isTaken: boolean]>> = {
  'fixed text beside a parameter': ['/u/{id}', '/u/me', TEXT, true],
  'fixed text among listed values': ['/u/{id}', '/u/me', { enum: ['me', 'you'] }, true],
  'fixed text that is not an integer': ['/u/{id}', '/u/me', { type: 'integer' }, false],
  'fixed digits beside an integer': ['/u/{id}', '/u/7', { type: 'integer' }, true],
  'fixed text that the pattern refuses': ['/u/{id}', '/u/me', { ...TEXT, pattern: '^[0-9]+$' }, false],
  'fixed text that is too short': ['/u/{id}', '/u/me', { ...TEXT, minLength: 8 }, false],
  'fixed text that is not listed': ['/u/{id}', '/u/me', { enum: ['a', 'b'] }, false],
  'fixed text that is not a UUID': ['/u/{id}', '/u/me', { ...TEXT, format: 'uuid' }, false],
  'fixed text beside a parameter with text': ['/u/{id}.json', '/u/me.json', TEXT, true],
  'fixed text that the template does not match': ['/u/{id}.json', '/u/me.xml', TEXT, false],
  'fixed text with signs of expressions': ['/u/a.{id}', '/u/abc', TEXT, false],
  'a template that is narrower in one segment': ['/u/{id}/x', '/u/me/{part}', TEXT, true],
  'a template with fixed text': ['/u/{id}', '/u/v-{id}', TEXT, true],
  'a template that is wider': ['/u/me/{part}', '/u/{id}/{part}', TEXT, false],
  'a template beside fixed text': ['/u/me', '/u/{id}', TEXT, false],
  'a longer path': ['/u/{id}', '/u/me/posts', TEXT, false],
  'another path': ['/u/{id}', '/v/me', TEXT, false],
}

/** Templates that differ in the names of their parameters, and added paths that each take the calls of all of them. */
function flood(templates: number, added: number): readonly FindingGroup[] {
  const old = Object.fromEntries(Array.from({ length: templates }, (_, at) => [`/{p${at}}`, itemOf(`/{p${at}}`, TEXT)]))
  const more = Object.fromEntries(Array.from({ length: added }, (_, at) => [`/b${at}`, itemOf('', TEXT)]))
  const [head, turned] = [
    { ...old, ...more },
    { ...more, ...Object.fromEntries(Object.entries(old).reverse()) },
  ].map((paths) => compareOpenApi(contract(old), contract(paths), {}, sha256))
  assert.ok(head?.ok && turned?.ok)
  const found = [head, turned].map(({ value }) =>
    value.groups.map(({ id, unlisted }) => `${id} ${unlisted}`).join('\n'),
  )
  assert.ok(found[0] === found[1])
  return head.value.groups.filter(({ rule }) => rule === 'api-path-shadowed')
}

function placesOf(groups: readonly FindingGroup[]): number {
  return groups.reduce((sum, { occurrences, unlisted = 0 }) => sum + occurrences.length + unlisted, 0)
}

suite('added paths and templates', () => {
  for (const [name, [old, added, schema, isTaken]] of Object.entries(CASES)) {
    test(name, () => assert.deepEqual(shadowedBy(old, added, schema), isTaken ? ['dangerous'] : []))
  }

  test('that come together take no calls from each other', () => {
    const compared = compareOpenApi(
      contract({}),
      contract({ '/u/{id}': itemOf('/u/{id}', TEXT), '/u/me': itemOf('/u/me', TEXT) }),
      {},
      sha256,
    )
    assert.ok(compared.ok)
    assert.deepEqual([...new Set(compared.value.groups.map(({ level }) => level))], ['info'])
  })

  test('are all counted where one added path takes the calls of many templates', () => {
    const groups = flood(100, 3)
    assert.equal(placesOf(groups), 300)
    assert.equal(groups.length, 60)
    assert.deepEqual([...new Set(groups.map(({ level }) => level))], ['dangerous'])
  })

  test('are all counted where they are too many to hold each against each', () => {
    const groups = flood(300, 300)
    assert.equal(placesOf(groups), 90_000)
    assert.equal(groups.length, 6000)
  })
})
