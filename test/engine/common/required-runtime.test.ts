/** The engine on a runtime that is too old for it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'

const ENGINE = join(import.meta.dirname, '../../../engine')

/** An import of an entry, after a part of the language was taken away. */
function importAfter(statement: string, entry: string): string {
  const program = `await import(${JSON.stringify(pathToFileURL(join(ENGINE, entry)).href)})`
  const before = `data:text/javascript,${encodeURIComponent(statement)}`
  const argv = ['--disable-warning=ExperimentalWarning', '--import', before, '--input-type=module', '--eval', program]
  return spawnSync(process.execPath, argv, { encoding: 'utf8' }).stderr
}

const MISSING = [
  ['delete Map.groupBy', /preflight-engine needs Node\.js 22 or newer.*This runtime has no Map\.groupBy\./],
  ['delete Set.prototype.union', /preflight-engine needs Node\.js 22 or newer.*has no Set\.prototype\.union\./],
] as const

for (const entry of ['index.ts', 'internal.ts', 'base.ts'])
  test(`${entry} says which runtime it needs, before anything else of it runs`, () => {
    for (const [statement, expected] of MISSING) assert.match(importAfter(statement, entry), expected, statement)
    assert.equal(importAfter('0', entry), '')
  })
