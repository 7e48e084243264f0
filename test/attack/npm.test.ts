/** A hostile publisher: tarballs that clients unpack to other files than the ones that were looked at, as npm's own unpacking shows. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { readPackageDocument } from '../../gateway/protocols/npm/document.ts'
import { TarballError } from '../../gateway/protocols/npm/archive.ts'
import { readTarball } from '../../gateway/protocols/npm/tarball.ts'

const BLOCK = 512

interface Entry {
  readonly name: string
  readonly text?: string
  /** Type flag (POSIX ustar): 0 file, 1 hard link, 2 symbolic link, 5 directory, x extended header. */
  readonly type?: string
  readonly link?: string
}

/** One entry as bytes: writers of archives would not write most of these names. */
function entryBytes({ name, text = '', type = '0', link = '' }: Entry): Buffer {
  const head = Buffer.alloc(BLOCK)
  const data = Buffer.from(text)
  head.write(name, 0)
  head.write('0000644\0'.padEnd(8), 100)
  head.write(`${data.length.toString(8).padStart(11, '0')}\0`, 124)
  head.write('00000000000\0', 136)
  head.write(' '.repeat(8), 148)
  head.write(type, 156)
  head.write(link, 157)
  head.write('ustar\u000000', 257)
  const sum = head.reduce((total, byte) => total + byte, 0)
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return Buffer.concat([head, data, Buffer.alloc((BLOCK - (data.length % BLOCK)) % BLOCK)])
}

function archive(entries: readonly Entry[]): Buffer {
  return gzipSync(Buffer.concat([...entries.map(entryBytes), Buffer.alloc(2 * BLOCK)]))
}

/** The extended header that gives the next entry another path: its length counts itself. */
function renaming(path: string): Entry {
  const record = ` path=${path}\n`
  const digits = String(record.length + 2).length
  return { name: 'pax', type: 'x', text: `${record.length + digits}${record}` }
}

const isSelected = (path: string): boolean => /(?:^|\/)openapi\.json$/i.test(path)
const read = (bytes: Buffer) => readTarball(bytes, { isSelected, maxFile: 1024 })
const GOOD: Entry = { name: 'package/openapi.json', text: 'good' }

for (const [what, entries] of [
  ['a slash before the name', [GOOD, { name: '/openapi.json', text: 'evil' }]],
  ['a dot before the name', [GOOD, { name: './openapi.json', text: 'evil' }]],
  ['a dot before the folder', [{ ...GOOD, name: './package/openapi.json' }]],
  ['no folder', [GOOD, { name: 'openapi.json', text: 'evil' }]],
  ['an empty part', [GOOD, { name: 'package//openapi.json', text: 'evil' }]],
  ['a way out and in again', [GOOD, { name: 'package/x/../openapi.json', text: 'evil' }]],
  ['a backslash', [GOOD, { name: 'package\\openapi.json', text: 'evil' }]],
  ['a name that ends in the middle', [GOOD, renaming('package/openapi.json\0z'), { name: 'z', text: 'evil' }]],
  ['another path by an extended header', [GOOD, renaming('package/openapi.json'), { name: 'z', text: 'evil' }]],
  [
    'a hard link',
    [
      { name: 'package/x', text: 'evil' },
      { ...GOOD, type: '1', text: '', link: 'package/x' },
    ],
  ],
  ['a symbolic link', [{ ...GOOD, type: '2', text: '', link: '/etc/passwd' }]],
  ['a folder in the place of the file', [GOOD, { name: 'package/openapi.json/', type: '5' }]],
  ['a file that is called a folder', [{ ...GOOD, name: 'package/openapi.json/' }]],
  ['letters of another case', [GOOD, { name: 'package/OpenAPI.json', text: 'evil' }]],
] as const) {
  test(`a contract under a name with ${what} makes the tarball unreadable`, async () => {
    await assert.rejects(read(archive(entries)), TarballError)
  })
}

/** Selected by one exact path, as a glob may: what lies beside it is nothing to the selection. */
const AT = 'api/openapi.json'
const readAt = (bytes: Buffer) => readTarball(bytes, { isSelected: (path) => path === AT, maxFile: 1024 })
const GOOD_AT: Entry = { name: `package/${AT}`, text: 'good' }

const AT_ONE_PLACE: Readonly<Record<string, Entry>> = {
  'a way down and up again': { name: 'package/api/x/../openapi.json', text: 'evil' },
  'a way up from another folder': { name: 'package/x/../api/openapi.json', text: 'evil' },
  'a way up past the top': { name: '../../package/api/openapi.json', text: 'evil' },
  'a stream of its own': { name: 'package/api/openapi.json::$DATA', text: 'evil' },
  'a control character at its end': { name: 'package/api/openapi.json\u0001', text: 'evil' },
  'a control character in its middle': { name: 'package/api/open\u0001api.json', text: 'evil' },
  'a backslash and other letters': { name: 'package\\API\\openapi.json', text: 'evil' },
  'other letters': { name: 'package/api/OpenAPI.json', text: 'evil' },
  'other letters of its folder': { name: 'package/Api/openapi.json', text: 'evil' },
  'a long s': { name: 'package/api/openapi.j\u017Fon', text: 'evil' },
  'a letter without a width': { name: 'package/api/open\u200Capi.json', text: 'evil' },
  'a dot at its end': { name: 'package/api/openapi.json.', text: 'evil' },
  'a blank at its end': { name: 'package/api/openapi.json ', text: 'evil' },
  'a blank behind its folder': { name: 'package/api /openapi.json', text: 'evil' },
  'a file in the place of its folder': { name: 'package/api', text: 'evil' },
  'a file in the place of its folder in other letters': { name: 'package/API', text: 'evil' },
  'a symbolic link in the place of its folder': { name: 'package/api', type: '2', link: 'other' },
  'a hard link in the place of its folder': { name: 'package/Api', type: '1', link: 'package/other' },
  'a link with a way up in the place of its folder': { name: 'package/x/../api', type: '2', link: 'other' },
}
for (const [what, entry] of Object.entries(AT_ONE_PLACE))
  for (const [order, entries] of [
    ['behind', [GOOD_AT, entry]],
    ['before', [entry, GOOD_AT]],
  ] as const)
    test(`a name ${order} the contract's with ${what} makes the tarball unreadable`, async () => {
      await assert.rejects(readAt(archive(entries)), TarballError)
    })

test('a contract of which an entry makes a folder is unreadable', async () => {
  const inside = { name: 'package/api/openapi.json/x.txt', text: 'x' }
  await assert.rejects(readAt(archive([GOOD_AT, inside])), TarballError)
  await assert.rejects(readAt(archive([inside, GOOD_AT])), TarballError)
})

test('a name of very many parts or readings is refused immediately', async () => {
  for (const part of ['a/', 'a:', 'a/../'])
    await assert.rejects(
      readAt(archive([GOOD_AT, renaming(`package/${part.repeat(10_000)}x`), { name: 'z' }])),
      TarballError,
    )
})

test('odd names of folders and of files without a contract do not block', async () => {
  const entries = [
    { name: 'package/', type: '5' },
    { name: 'package/api/', type: '5' },
    { name: './package/readme.md', text: 'x' },
    { name: 'package/link.md', type: '2', link: '/etc/passwd' },
    { name: 'package/A.md', text: 'x' },
    { name: 'package/a.md', text: 'x' },
    { name: 'package/api/openapi.json', text: 'good' },
  ]
  assert.deepEqual([...(await read(archive(entries))).keys()], ['api/openapi.json'])
})

/** What npm itself makes of a tarball. */
async function unpackedByNpm(t: TestContext, bytes: Buffer): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'preflight-npm-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'a.tgz'), bytes)
  const args = ['install', '--ignore-scripts', '--offline', '--no-audit', '--no-fund', '--prefix', folder, './a.tgz']
  await promisify(execFile)('npm', args, { cwd: folder, env: { ...process.env, npm_config_cache: join(folder, 'c') } })
  return readFile(join(folder, 'node_modules', 'pets', 'openapi.json'), 'utf8')
}

test('npm unpacks such a name over the contract next to it', async (t) => {
  const named = { name: 'package/package.json', text: '{"name":"pets","version":"1.0.0"}' }
  const tarball = archive([named, GOOD, { name: '/openapi.json', text: 'evil' }])
  assert.equal(await unpackedByNpm(t, tarball), 'evil')
  await assert.rejects(read(tarball), TarballError)
})

for (const [what, dist, isTaken] of [
  ['its own checksums', 'own', true],
  ['the checksum of another tarball', { integrity: `sha512-${'A'.repeat(86)}==` }, false],
  ['another checksum of the old kind', { shasum: '0'.repeat(40) }, false],
  ['a checksum that is none', { integrity: 7 }, false],
] as const) {
  test(`a publication with ${what} is ${isTaken ? 'read' : 'not read'}`, () => {
    const tarball = archive([GOOD])
    const own = {
      integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
      shasum: createHash('sha1').update(tarball).digest('hex'),
    }
    const document = {
      name: 'pets',
      'dist-tags': { latest: '1.0.0' },
      versions: { '1.0.0': { name: 'pets', version: '1.0.0', dist: dist === 'own' ? own : dist } },
      _attachments: { 'pets-1.0.0.tgz': { data: tarball.toString('base64') } },
    }
    if (isTaken) assert.equal(readPackageDocument('pets', document).kind, 'publication')
    else assert.throws(() => readPackageDocument('pets', document), /checksum/)
  })
}

const TGZ = archive([GOOD]).toString('base64')

/** What a publication says, for what it is changed by. */
function publication(edit: object = {}, version: object = {}, number = '1.0.1'): object {
  return {
    _id: 'pets',
    name: 'pets',
    'dist-tags': { latest: number },
    versions: { [number]: { name: 'pets', version: number, ...version } },
    _attachments: { [`pets-${number}.tgz`]: { data: TGZ } },
    ...edit,
  }
}

const MANIFEST = { name: 'pets', version: '1.0.1' }
for (const [what, document] of [
  ['another package as its id', publication({ _id: 'other' })],
  ['another package as its name, with its own id', publication({ name: 'other' })],
  ['versions in other letters', publication({ Versions: { '1.0.1': MANIFEST } })],
  ['attachments in other letters', publication({ _Attachments: { 'pets-1.0.1.tgz': { data: 'eHg=' } } })],
  ['tags in other letters', publication({ 'Dist-Tags': { latest: '1.0.0' } })],
  ['a version in other letters', publication({}, { Version: '2.0.0' })],
  ['checksums in other letters', publication({}, { dist: { Shasum: '0'.repeat(40) } })],
  ['data in other letters', publication({ _attachments: { 'pets-1.0.1.tgz': { data: TGZ, Data: 'eHg=' } } })],
  ['the tarball of another version', publication({}, { dist: { tarball: 'http://r/pets/-/pets-1.0.0.tgz' } })],
  ['an escaped name of another tarball', publication({}, { dist: { tarball: 'http://r/x%2fpets-1.0.0.tgz?a' } })],
  ['a tarball that is not an address', publication({}, { dist: { tarball: 7 } })],
  ...['=1.0.1', ' 1.0.1', '1.0', '1.0.1.0', 'latest'].map(
    (number) => [`the version ${number}`, publication({}, {}, number)] as const,
  ),
] as const)
  test(`a publication with ${what} is not read`, () => {
    assert.throws(() => readPackageDocument('pets', document), /no single reading/)
  })

const address = (file: string) => ({ dist: { tarball: `http://r/@acme/pets/-/${file}` } })

test('publications as clients write them are read', () => {
  for (const document of [publication({}, address('pets-1.0.1.tgz')), publication({ _id: undefined }), publication()])
    assert.equal(readPackageDocument('pets', document).kind, 'publication')
  const scoped = {
    _id: '@acme/pets',
    name: '@acme/pets',
    'dist-tags': {},
    versions: { '1.0.1': { name: '@acme/pets', version: '1.0.1', ...address('@acme/pets-1.0.1.tgz') } },
    _attachments: { '@acme/pets-1.0.1.tgz': { data: TGZ } },
  }
  assert.deepEqual(Object(readPackageDocument('@acme/pets', scoped)).tags, ['latest'])
})
