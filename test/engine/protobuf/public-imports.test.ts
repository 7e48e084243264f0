/** Public imports that a set of files loses: each loss is reported once, at the file that no longer passes it on. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { comparedProtobuf } from './contracts.ts'

/** By file, the files that it imports publicly. */
type Imports = Readonly<Record<string, string>>

const ROWS: readonly (readonly [what: string, before: Imports, after: Imports, lost: readonly string[]])[] = [
  ['a file that is passed on no more', { a: 'b', b: '' }, { a: '', b: '' }, ['a: b']],
  ['a loss behind a file that is passed on still', { a: 'b', b: 'c', c: '' }, { a: 'b', b: '', c: '' }, ['b: c']],
  ['a loss with all behind it', { a: 'b', b: 'c', c: '' }, { a: '', b: 'c', c: '' }, ['a: b']],
  ['losses of two files', { a: 'b', b: 'c', c: '' }, { a: '', b: '', c: '' }, ['a: b', 'b: c']],
  ['a file that another one passes on now', { a: 'c', b: 'c', c: '' }, { a: 'b', b: 'c', c: '' }, []],
  ['files that pass on each other', { a: 'b', b: 'a' }, { a: 'b', b: 'a' }, []],
  ['one of two files', { a: 'b c', b: '', c: '' }, { a: 'c', b: '', c: '' }, ['a: b']],
]

function written(imports: Imports): string {
  const files = Object.entries(imports).map(([name, passed]) => {
    const lines = passed.split(' ').filter((one) => one !== '')
    const statements = lines.map((one) => `import public "${one}.proto";`)
    return [`${name}.proto`, `syntax = "proto3"; package ${name}; ${statements.join(' ')}`] as const
  })
  return JSON.stringify(Object.fromEntries(files))
}

for (const [what, before, after, lost] of ROWS)
  test(what, () => {
    const { groups } = comparedProtobuf(written(before), written(after))
    const found = groups.filter(({ rule }) => rule === 'proto-public-import-removed')
    const places = found.map(({ location, before: path }) => `${location.slice(1)}: ${JSON.stringify(path)}`)
    assert.deepEqual(places.map((place) => place.replaceAll(/\.proto|"/g, '')).sort(), lost)
  })
