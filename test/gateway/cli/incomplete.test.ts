/** A comparison that is not complete, on the command line: exit code and every form of the report. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { run } from '../../fakes/command-io.ts'

const directory = mkdtempSync(join(tmpdir(), 'preflight-incomplete-'))
after(() => rmSync(directory, { recursive: true, force: true }))

function file(name: string, content: string): string {
  const path = join(directory, name)
  writeFileSync(path, content)
  return path
}

function contract(paths: object): string {
  return JSON.stringify({ openapi: '3.0.3', info: { title: 't', version: '1' }, paths })
}

const OPERATION = { responses: { 200: { description: 'ok' } } }

test('a document that refers to what is not there is not compared whole: exit code 3, and every form names it', async () => {
  const gap = file('gap.json', contract({ '/a': { get: OPERATION }, '/b': { $ref: './elsewhere.yaml' } }))
  for (const form of ['text', 'json', 'markdown', 'junit', 'github', 'sarif']) {
    const { code, stdout, stderr } = await run(['diff', gap, gap, '--format', form, '--fail-on', 'none'])
    assert.equal(code, 3, form)
    assert.match(stderr, /Not complete: \.\/elsewhere\.yaml/)
    assert.match(stdout, /elsewhere/, form)
  }
  const both = file('both.json', contract({ '/a': { get: OPERATION }, '/b': { get: OPERATION } }))
  const { code, stdout } = await run(['diff', both, gap, '--format', 'json'])
  assert.equal(code, 1, 'a break that was found is told as one')
  const { summary, unresolved_references: references }: { summary: object; unresolved_references: unknown } =
    JSON.parse(stdout)
  assert.deepEqual(
    { ...summary, breaking: 0, dangerous: 0, info: 0, semver: 'none' },
    {
      breaking: 0,
      dangerous: 0,
      info: 0,
      decision_hint: 'BLOCK',
      semver: 'none',
      analysis_complete: false,
    },
  )
  assert.deepEqual(references, [{ side: 'head', reference: './elsewhere.yaml', location: '/paths/~1b' }])
})
