/** References by address to files that are given with a contract: by what a schema there states, or by where the file stands. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from '../../../engine/formats/compare.ts'
import { relativePath } from '../../../engine/contracts/uri.ts'
import { sha256Hex } from '../../../gateway/runtime/hash.ts'

type Json = Readonly<Record<string, unknown>>

/** The document, and the file that its reference leads to. */
interface Row {
  readonly schema: Json
  readonly path: string
  readonly file: (type: string) => Json
  /** A file that other readers might take. */
  readonly other?: string
}

const to = ($ref: string, more: Json = {}): Json => ({ ...more, properties: { p: { $ref } } })
const below = ($id: string, $ref: string, more: Json = {}): Json => ({
  ...more,
  properties: { p: { $id, ...to($ref) } },
})
const typed = (type: string): Json => ({ type })
const addressed = (type: string): Json => ({ $id: 'https://x/other', type })

const ROWS: Readonly<Record<string, Row>> = {
  'the address that the file states': { schema: to('https://x/other'), path: 'o.json', file: addressed },
  'an anchor of that file': {
    schema: to('https://x/other#a'),
    path: 'o.json',
    file: (type) => ({ $id: 'https://x/other', $defs: { a: { $anchor: 'a', type } } }),
  },
  'a pointer into that file': {
    schema: to('https://x/other#/$defs/a'),
    path: 'o.json',
    file: (type) => ({ $id: 'https://x/other', $defs: { a: { type } } }),
  },
  'a schema with an address within the file': {
    schema: to('https://x/other'),
    path: 'o.json',
    file: (type) => ({ $defs: { a: addressed(type) } }),
  },
  'a path from the address of the document': {
    schema: to('other', { $id: 'https://x/main' }),
    path: 'o.json',
    file: addressed,
  },
  'a file in another folder': { schema: to('https://x/other'), path: '../o.json', file: addressed },
  'the place of the file beside the address of the document': {
    schema: to('https://x/a/o.json', { $id: 'https://x/a/main.json' }),
    path: 'o.json',
    file: typed,
  },
  'a schema with a folder as its address': {
    schema: below('sub/', 'o.json'),
    path: 'sub/o.json',
    file: typed,
    other: 'o.json',
  },
  'such a schema in a document with an address': {
    schema: below('sub/', 'o.json#', { $id: 'https://x/main.json' }),
    path: 'sub/o.json',
    file: typed,
    other: 'o.json',
  },
  'a folder beside that of the document': {
    schema: below('/b/', 'o.json', { $id: 'https://x/a/main.json' }),
    path: '../b/o.json',
    file: typed,
    other: 'o.json',
  },
}

const inOpenApi = (schema: Json): Json => ({
  openapi: '3.1.0',
  info: { title: 't', version: '1' },
  paths: { '/x': { get: { responses: { 200: { description: '', content: { 'application/json': { schema } } } } } } },
})

function changed(type: 'json_schema' | 'openapi', { schema, path, file, other }: Row): readonly string[] {
  const document = JSON.stringify(type === 'openapi' ? inOpenApi(schema) : schema)
  const name = path.startsWith('../') ? path.slice(3) : `folder/${path}`
  const texts = { before: JSON.stringify(file('string')), after: JSON.stringify(file('integer')) }
  const files = { [name]: texts, ...(other !== undefined && { [`folder/${other}`]: '{"type":"null"}' }) }
  const artifact = { id: 'c', type, before: document, after: document, path: 'folder/main.json', files }
  const compared = compare(artifact, {}, sha256Hex)
  assert.ok(compared.ok, compared.ok ? '' : compared.problem.message)
  assert.deepEqual(compared.value.unresolved, [])
  return compared.value.groups.map(({ level, location }) => `${level} ${location}`)
}

for (const [what, row] of Object.entries(ROWS))
  for (const type of ['json_schema', 'openapi'] as const) {
    // The address of a schema is not that of the OpenAPI document around it.
    if (type === 'openapi' && row.file === typed && row.schema['$id'] !== undefined) continue
    test(`${what}, in ${type}`, () => {
      const [first, ...others] = changed(type, row)
      assert.deepEqual(others, [])
      assert.ok(first?.startsWith(`breaking ${row.path}#`), first)
    })
  }

test('one path from two addresses is two references', () => {
  const schema = { properties: { p: { $ref: 'o.json' }, q: { $id: 'sub/sub/', ...to('../o.json') } } }
  const artifact = { id: 'c', type: 'openapi', before: JSON.stringify(inOpenApi(schema)), path: 'main.json' } as const
  const compared = compare({ ...artifact, after: artifact.before, files: { 'o.json': '{}' } }, {}, sha256Hex)
  assert.ok(compared.ok)
  assert.deepEqual(
    compared.value.unresolved?.map(({ side, reference }) => `${side} ${reference}`),
    ['base ../o.json', 'head ../o.json'],
  )
})

test('a path leads from one address to another', () => {
  for (const [uri, base, path] of [
    ['https://x/a/o.json', 'https://x/a/main.json', 'o.json'],
    ['https://x/a/b/o.json', 'https://x/a/main.json', 'b/o.json'],
    ['https://x/o.json', 'https://x/a/b/main.json', '../../o.json'],
    ['https://y/o.json', 'https://x/main.json', null],
    ['https://x/o.json?v=1', 'https://x/main.json', null],
    ['sub/o.json', '', 'sub/o.json'],
    ['o.json', 'sub/main.json', '../o.json'],
    ['o.json', '/main.json', '../o.json'],
  ] as const)
    assert.equal(relativePath(uri, base), path, `${uri} from ${base}`)
})
