/** What is read of a package's tarball is what npm unpacks of it; archives of which that could be otherwise are refused. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { extract } from 'tar'
import { TarballError } from '../../../gateway/protocols/npm/archive.ts'
import { readTarball } from '../../../gateway/protocols/npm/tarball.ts'
import { padded, paxHeader, paxRecord, summed, TAR_END, tarball, tarFile, tarHeader } from '../../fakes/tar-archive.ts'

const TERMS = { isSelected: (path: string) => path.endsWith('.yaml'), maxFile: 1 << 20 }

/** Selected files as the gateway reads them; null: refused. */
async function judged(bytes: Buffer): Promise<Readonly<Record<string, string>> | null> {
  try {
    const files = [...(await readTarball(bytes, TERMS))]
    return Object.fromEntries(files.map(([path, file]) => [path, file.kind === 'text' ? file.text : file.kind]))
  } catch (error) {
    if (error instanceof TarballError) return null
    throw error
  }
}

/** npm leaves links out. */
function isNoLink(_path: string, entry: object): boolean {
  return !('type' in entry) || (entry.type !== 'Link' && entry.type !== 'SymbolicLink')
}

/** Selected files as npm's own reader unpacks them, with what npm asks of it; null: it fails. */
async function installed(bytes: Buffer): Promise<Readonly<Record<string, string>> | null> {
  const cwd = mkdtempSync(join(tmpdir(), 'preflight-tar-'))
  try {
    const input = new PassThrough()
    input.end(bytes)
    await pipeline(input, extract({ cwd, strip: 1, filter: isNoLink, preserveOwner: false, noChmod: true }))
    const files = readdirSync(cwd, { recursive: true, encoding: 'utf8' })
    return Object.fromEntries(
      files
        .filter((path) => TERMS.isSelected(path) && statSync(join(cwd, path)).isFile())
        .map((path) => [path, readFileSync(join(cwd, path), 'utf8')]),
    )
  } catch (error) {
    if (error instanceof Error) return null
    throw error
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}

const GOOD = tarFile('package/openapi.yaml', 'good')
const BAD = tarFile('package/openapi.yaml', 'bad')
const NAMED = (name: string) => Buffer.concat([paxHeader(paxRecord('path', name)), tarFile('package/x.txt', 'bad')])
const LONG = `package/${'d'.repeat(90)}/${'e'.repeat(90)}/openapi.yaml`

const READ: Readonly<Record<string, readonly [Buffer, Readonly<Record<string, string>>]>> = {
  'a file': [tarball(GOOD), { 'openapi.yaml': 'good' }],
  'folders beside files': [tarball(tarHeader({ name: 'package/', flag: '5' }), GOOD), { 'openapi.yaml': 'good' }],
  'a long name in two fields': [
    tarball(tarFile('openapi.yaml', 'x', { prefix: `package/${'a'.repeat(80)}` })),
    { [`${'a'.repeat(80)}/openapi.yaml`]: 'x' },
  ],
  'a longer name in a pax header': [
    tarball(paxHeader(paxRecord('path', LONG) + paxRecord('mtime', '1')), tarFile('short', 'x')),
    { [LONG.slice(8)]: 'x' },
  ],
  'a name beyond ASCII': [
    tarball(paxHeader(paxRecord('path', 'package/ä.yaml')), tarFile('package/x', 'x')),
    { 'ä.yaml': 'x' },
  ],
  'the comment of git archive': [
    tarball(paxHeader(paxRecord('comment', 'abc'), 'g'), GOOD),
    { 'openapi.yaml': 'good' },
  ],
  'more zeros than two blocks': [gzipSync(Buffer.concat([GOOD, Buffer.alloc(10_240)])), { 'openapi.yaml': 'good' }],
  'GNU tar without anything of its own': [
    tarball(tarFile('package/openapi.yaml', 'x', { magic: 'ustar  \0' })),
    { 'openapi.yaml': 'x' },
  ],
}

const sized = (content: Buffer, sizeField: string | Buffer) =>
  Buffer.concat([tarHeader({ name: 'package/openapi.yaml', sizeField }), padded(content)])
const base256 = Buffer.from([0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3])
const two = Buffer.from('bad')

const REFUSED: Readonly<Record<string, Buffer>> = {
  'a header of Solaris': tarball(
    GOOD,
    paxHeader(paxRecord('path', 'package/openapi.yaml'), 'X'),
    tarFile('package/x.txt', 'bad'),
  ),
  'a pax record of a wrong length': tarball(
    paxHeader(`99 path=package/openapi.yaml\n`),
    tarFile('package/x.txt', 'bad'),
  ),
  'a pax record that is one too short': tarball(
    paxHeader(paxRecord('path', 'package/openapi.yaml').replace(/^\d+/, (length) => String(Number(length) - 1))),
    BAD,
  ),
  'a pax header of two records of one key': tarball(
    paxHeader(paxRecord('path', 'package/a.yaml') + paxRecord('path', 'package/b.yaml')),
    BAD,
  ),
  'a size in a pax header': tarball(paxHeader(paxRecord('size', '0')), BAD),
  'a type in a pax header': tarball(paxHeader(paxRecord('type', '5')), BAD),
  'a link in a pax header': tarball(paxHeader(paxRecord('linkpath', 'x')), BAD),
  'a sparse file of GNU tar in a pax header': tarball(
    paxHeader(paxRecord('GNU.sparse.name', 'package/openapi.yaml')),
    BAD,
  ),
  'a sparse file of old GNU tar': tarball(tarFile('package/openapi.yaml', 'bad', { flag: 'S' })),
  'a global name': tarball(paxHeader(paxRecord('path', 'package/openapi.yaml'), 'g'), tarFile('package/x.txt', 'bad')),
  'a global size': tarball(paxHeader(paxRecord('size', '0'), 'g'), BAD),
  'a long name of GNU tar': tarball(
    tarFile('././@LongLink', 'package/openapi.yaml\0', { flag: 'L' }),
    tarFile('package/x.txt', 'bad'),
  ),
  'a long link of GNU tar': tarball(tarFile('././@LongLink', 'x\0', { flag: 'K' }), BAD),
  'an old long name': tarball(tarFile('x', 'package/openapi.yaml', { flag: 'N' }), BAD),
  'two pax headers in a row': tarball(
    paxHeader(paxRecord('path', 'package/a.yaml')),
    paxHeader(paxRecord('mtime', '1')),
    BAD,
  ),
  'a pax header with nothing behind it': tarball(GOOD, paxHeader(paxRecord('path', 'package/a.yaml'))),
  'a name in a pax header beside a prefix': tarball(
    paxHeader(paxRecord('path', 'openapi.yaml')),
    tarFile('x', 'bad', { prefix: 'package' }),
  ),
  'a drive below the top': tarball(tarFile('package/c:/openapi.yaml', 'bad')),
  'a drive and no slash': tarball(tarFile('package/c:openapi.yaml', 'bad')),
  'a drive in a pax header': tarball(NAMED('package/c:/openapi.yaml')),
  'a share of Windows': tarball(tarFile('package///?/c:/openapi.yaml', 'bad')),
  'a backslash': tarball(tarFile('package\\openapi.yaml', 'bad')),
  'a way up': tarball(tarFile('package/a/../openapi.yaml', 'bad')),
  'a dot': tarball(tarFile('package/./openapi.yaml', 'bad')),
  'an absolute name': tarball(tarFile('/package/openapi.yaml', 'bad')),
  'an entry behind the end marker': gzipSync(Buffer.concat([GOOD, TAR_END, BAD, TAR_END])),
  'an entry behind one block of zeros': gzipSync(Buffer.concat([GOOD, Buffer.alloc(512), BAD, TAR_END])),
  'no end marker': gzipSync(GOOD),
  'two gzip members': Buffer.concat([gzipSync(GOOD), tarball(BAD)]),
  'garbage behind the gzip data': Buffer.concat([tarball(GOOD), Buffer.from('x')]),
  'gzip data that are cut off': tarball(GOOD).subarray(0, -1),
  'gzip data with another checksum': Buffer.from(
    tarball(GOOD).map((byte, index, all) => (index === all.length - 8 ? byte ^ 1 : byte)),
  ),
  'gzip in gzip': gzipSync(tarball(GOOD)),
  'an empty archive': gzipSync(TAR_END),
  'no gzip': Buffer.concat([GOOD, TAR_END]),
  'a hard link': tarball(
    tarFile('package/x.txt', 'bad'),
    tarHeader({ name: 'package/openapi.yaml', flag: '1', linkname: 'package/x.txt' }),
  ),
  'a symbolic link': tarball(tarHeader({ name: 'package/openapi.yaml', flag: '2', linkname: 'x' })),
  'a link with a content': tarball(tarFile('package/x', 'bad', { flag: '1', linkname: 'x' })),
  'a file that leads somewhere': tarball(tarFile('package/openapi.yaml', 'bad', { linkname: 'x' })),
  'a folder with a content': tarball(tarFile('package/x/', 'bad', { flag: '5' }), GOOD),
  'a file that is a folder': tarball(tarHeader({ name: 'package/openapi.yaml/' }), GOOD),
  'a contiguous file': tarball(tarFile('package/openapi.yaml', 'bad', { flag: '7' })),
  'a device': tarball(tarHeader({ name: 'package/openapi.yaml', flag: '3' })),
  'one name twice': tarball(GOOD, BAD),
  'one name in other letters': tarball(GOOD, tarFile('package/OpenAPI.yaml', 'bad')),
  'one name below two folders': tarball(GOOD, tarFile('other/openapi.yaml', 'bad')),
  'a size in base 256': tarball(sized(two, base256)),
  'a size with a sign': tarball(sized(two, '-0000000003 ')),
  'a size behind blanks': tarball(sized(two, '         03 ')),
  'a size with something behind it': tarball(sized(two, '00000000003x')),
  'no size': tarball(sized(two, '\0'.repeat(12))),
  'another magic': tarball(tarFile('package/openapi.yaml', 'bad', { magic: '\0'.repeat(8) })),
  'a name with something behind its end': tarball(tarFile('package/openapi.yaml\0x', 'bad')),
  'a wrong checksum': tarball(Buffer.from(GOOD.map((byte, index) => (index === 100 ? byte ^ 1 : byte)))),
}

describe('the reader of tarballs', () => {
  for (const [what, [bytes, files]] of Object.entries(READ))
    it(`reads ${what}, as npm does`, async () => {
      assert.deepEqual(await judged(bytes), files)
      assert.deepEqual(await installed(bytes), files)
    })

  for (const [what, bytes] of Object.entries(REFUSED))
    it(`refuses ${what}`, async () => {
      assert.equal(await judged(bytes), null)
    })

  it('reads of any archive what npm unpacks, or refuses it', async () => {
    await fc.assert(
      fc.asyncProperty(archives, async (bytes) => {
        const read = await judged(bytes)
        if (read !== null) assert.deepEqual(await installed(bytes), read)
      }),
      { numRuns: 400 },
    )
  })
})

const names = fc.constantFrom(
  'package/openapi.yaml',
  'package/a/openapi.yaml',
  'other/b.yaml',
  'package/x.txt',
  'package',
  'openapi.yaml',

  './package/openapi.yaml',
  'package//openapi.yaml',
  'package/c:/a.yaml',
  'package/../a.yaml',
  'package/a/',
  '/a/b.yaml',
)
const contents = fc.constantFrom('', 'bad', 'openapi: 3.0.0\n'.repeat(50))
const headers = fc.record({
  name: names,
  flag: fc.constantFrom('0', '0', '0', '\0', '5', '1', '2', '7', 'L', 'K', 'X', 'S', 'g'),
  prefix: fc.constantFrom('', '', '', 'package', 'a/b'),
  linkname: fc.constantFrom('', '', '', '', 'package/openapi.yaml'),
})
const pax = fc
  .array(
    fc.tuple(
      fc.constantFrom('path', 'mtime', 'size', 'comment', 'linkpath', 'type', 'GNU.sparse.size'),
      fc.oneof(names, fc.constant('3')),
    ),
    { minLength: 1, maxLength: 2 },
  )
  .map((records) => records.map(([key, value]) => paxRecord(key, value)).join(''))
const parts = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(names, contents).map(([name, content]) => tarFile(name, content)) },
  {
    weight: 2,
    arbitrary: fc.tuple(headers, contents).map(([header, content]) => tarFile(header.name, content, header)),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(pax, fc.constantFrom('x', 'x', 'g')).map(([records, flag]) => paxHeader(records, flag)),
  },
  { weight: 1, arbitrary: fc.constantFrom(Buffer.alloc(512), TAR_END, padded('garbage')) },
)
/** One byte of a header that is another one, with a checksum that fits it or not. */
const slips = fc.option(fc.tuple(fc.nat(511), fc.nat(255), fc.boolean()), { freq: 3 })
const archives = fc
  .tuple(
    fc.array(parts, { minLength: 1, maxLength: 4 }),
    slips,
    fc.constantFrom(TAR_END, TAR_END, Buffer.alloc(0)),
    fc.boolean(),
  )
  .map(([blocks, slip, end, isDoubled]) => {
    const bytes = Buffer.concat([...blocks, end])
    if (slip !== null) {
      const [at, value, isSummed] = slip
      bytes[at] = value
      if (isSummed) summed(bytes.subarray(0, 512))
    }
    const zipped = gzipSync(bytes, { level: 1 })
    return isDoubled && bytes.length % 3 === 0 ? Buffer.concat([zipped, zipped]) : zipped
  })
