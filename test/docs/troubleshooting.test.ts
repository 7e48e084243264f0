/** docs/troubleshooting.md against the table of errors: each code has an entry that says the cause and what to do. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ERRORS } from '../../gateway/errors/errors.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/troubleshooting.md'), 'utf8')
/** Rows of the tables, by the codes in their first cell. */
const ENTRIES = [...PAGE.matchAll(/^\| (`[A-Z_`, ]+`) \| (.*) \| (.*) \|$/gm)].flatMap(
  ([, codes = '', cause = '', remedy = '']) =>
    [...codes.matchAll(/`([A-Z_]+)`/g)].map(([, code = '']) => ({ code, cause, remedy })),
)

for (const code of Object.keys(ERRORS))
  test(`${code} has one entry with its cause and its remedy`, () => {
    const found = ENTRIES.filter((entry) => entry.code === code)
    assert.equal(found.length, 1, `docs/troubleshooting.md has one row for ${code}, not ${found.length}`)
    for (const { cause, remedy } of found) assert.ok(cause.length > 10 && remedy.length > 10, `${cause} | ${remedy}`)
  })

test('every entry is about a code that the gateway answers', () => {
  assert.deepEqual(
    ENTRIES.map(({ code }) => code).filter((code) => !Object.hasOwn(ERRORS, code)),
    [],
  )
})
