/** A folder of .proto files as a side of `preflight diff`. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { run } from '../fakes/command-io.ts'

const directory = mkdtempSync(join(tmpdir(), 'preflight-cli-folder-'))
after(() => rmSync(directory, { recursive: true, force: true }))

test('a folder of .proto files is one contract, whose files import each other by their paths in it', async () => {
  for (const [side, type] of [
    ['old', 'string'],
    ['new', 'int32'],
  ] as const) {
    mkdirSync(join(directory, side, 'notes'), { recursive: true })
    const use = 'syntax = "proto3"; import "notes/note.proto"; message Page { repeated notes.Note notes = 1; }'
    writeFileSync(join(directory, side, 'page.proto'), use)
    const note = `syntax = "proto3"; package notes; message Note { ${type} text = 1; }`
    writeFileSync(join(directory, side, 'notes', 'note.proto'), note)
  }
  const folders = ['old', 'new'].map((side) => join(directory, side))
  const { code, stdout } = await run(['diff', ...folders])
  assert.equal(code, 1)
  assert.match(stdout, /1 breaking, 0 dangerous, 0 compatible/)
  assert.match(stdout, /\/notes~1note\.proto\/Note\/text {2}\[proto-field-type-changed\]/)
  const { stdout: annotations } = await run(['diff', ...folders, '--format', 'github'])
  assert.match(annotations, /^::error title=/)
})
