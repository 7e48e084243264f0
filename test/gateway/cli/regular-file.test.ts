/** A setting that names no regular file is an immediate error: a FIFO without a writer, a device. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { readPrivateFile } from '../../../gateway/runtime/private-file.ts'
import { loadRegularFile, readRegularFile } from '../../../gateway/runtime/regular-file.ts'

describe('a file that is read', () => {
  let folder = ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'preflight-fifo-'))
    execFileSync('mkfifo', [join(folder, 'fifo')])
    writeFileSync(join(folder, 'file'), 'text')
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  for (const [what, path] of [
    ['a FIFO', () => join(folder, 'fifo')],
    ['a device', () => '/dev/zero'],
  ] as const)
    it(`is not ${what}`, async () => {
      assert.throws(() => readRegularFile(path()), /not a regular file/)
      await assert.rejects(loadRegularFile(path()), /not a regular file/)
      const kind = { subject: 'The keys', remedy: 'Restore them.' }
      assert.throws(() => readPrivateFile(path(), kind), /The keys .* not a regular file.*Restore them/)
    })

  it('comes whole when it is one', async () => {
    assert.equal(readRegularFile(join(folder, 'file'), 'utf8'), 'text')
    assert.equal((await loadRegularFile(join(folder, 'file'))).toString('utf8'), 'text')
  })

  it('is named with what is wrong, what to do, and the code', async () => {
    symlinkSync(join(folder, 'loop'), join(folder, 'loop'))
    const faults: Readonly<Record<string, RegExp>> = {
      [folder]: /^\S+ is a directory; name a file in it \(EISDIR\)$/,
      [join(folder, 'none')]: /none does not exist; make it, or name another file \(ENOENT\)$/,
      [join(folder, 'file', 'in')]: /file\/in does not exist: a part of its path is a file \(ENOTDIR\)$/,
      [join(folder, 'loop')]: /loop is a link that leads back to itself \(ELOOP\)$/,
    }
    for (const [path, message] of Object.entries(faults)) {
      assert.throws(() => readRegularFile(path), { message, code: /^E[A-Z]+$/ })
      await assert.rejects(loadRegularFile(path), { message, code: /^E[A-Z]+$/ })
    }
  })
})

/** Files of the gateway's own: its package and its data directory. */
const OWN: ReadonlySet<string> = new Set([
  'runtime/package-files.ts',
  'runtime/regular-file.ts',
  // Reads the descriptor that `openRegularFile` made.
  'telemetry/sinks/spool.ts',
  // Streams a long file after `assertNoSpecialFile`.
  'cli/ledger-keep.ts',
])

/** Modules that open files in further ways, each with what it checks first. */
const OPENERS: Readonly<Record<string, RegExp>> = {
  'runtime/private-file.ts': /makeTemporaryFile\(temporary\)/,
  'telemetry/sinks/spool.ts': /openRegularFile\(file\)/,
  'store/sqlite/connection.ts': /assertNoSpecialFile\(/,
  'store/sqlite/reader.ts': /assertNoSpecialLedger\(file\)/,
  'store/sqlite/serving-lock.ts': /assertNoSpecialFile\(file\)/,
  'telemetry/decision-log/file-sink.ts': /O_NONBLOCK[^]*!stats\.isFile\(\)/,
  'cli/mcp-home.ts': /assertNoSpecialFile\(home\.log\)/,
  'cli/logs.ts': /assertNoSpecialFile\(this\.#file\)/,
  'cli/ledger-keep.ts': /assertNoSpecialFile\(file\)[^]*|flags: 'wx'/,
  'stdio/daemon-connection.ts': /openSync\(starting, 'wx'/,
}

describe('the sources', () => {
  it('open what somebody named in one place only', () => {
    const root = join(import.meta.dirname, '../../../gateway')
    const opening = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !OWN.has(path))
      .filter((path) =>
        /\breadFileSync\(|\bcreateReadStream\(|import \{[^}]*\breadFile\b[^}]*\} from 'node:fs\/promises'/.test(
          readFileSync(join(root, path), 'utf8'),
        ),
      )
    assert.deepEqual(opening, [])
  })

  it('open files of the data directory after a look at what is there', () => {
    const root = join(import.meta.dirname, '../../../gateway')
    for (const path of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
      if (!path.endsWith('.ts') || path === 'runtime/regular-file.ts') continue
      const source = readFileSync(join(root, path), 'utf8')
      if (
        !/\bopenSync\(|\bnew DatabaseSync\(|\bcreateWriteStream\(|import \{[^}]*\bopen\b[^}]*\} from 'node:fs/.test(
          source,
        )
      )
        continue
      assert.match(source, OPENERS[path] ?? /^no module opens files unlooked$/, path)
    }
  })
})
