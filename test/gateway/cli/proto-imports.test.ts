/** Imports of a single .proto file as a side of a command: found above the file, bounded, and never outside of its tree. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { suite, test, type TestContext, after } from 'node:test'
import { run } from '../../fakes/command-io.ts'
import { at } from '../../json.ts'

type Files = Readonly<Record<string, string>>

function write(root: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}

/** Both sides of the same files, but for the type of one field. */
function pair(t: TestContext, filesOf: (type: string) => Files): string {
  const root = mkdtempSync(join(tmpdir(), 'preflight-imports-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  write(join(root, 'old'), filesOf('string'))
  write(join(root, 'new'), filesOf('int32'))
  return root
}

const note = (type: string, more = ''): string =>
  `syntax = "proto3"; package notes; ${more} message Note { ${type} text = 1; }`
const page = (imported: string, packageName = 'pages'): string =>
  `syntax = "proto3"; package ${packageName}; import "${imported}"; message Page { notes.Note note = 1; }`
const PUBLIC = 'syntax = "proto3"; import public "notes/note.proto";'

/** Where the file is → the files of a side. */
const LAYOUTS: Readonly<Record<string, readonly [file: string, files: (type: string) => Files]>> = {
  'beside it': ['page.proto', (type) => ({ 'page.proto': page('note.proto'), 'note.proto': note(type) })],
  'below it': ['page.proto', (type) => ({ 'page.proto': page('notes/note.proto'), 'notes/note.proto': note(type) })],
  'from the folder above': [
    'pages/page.proto',
    (type) => ({ 'pages/page.proto': page('notes/note.proto'), 'notes/note.proto': note(type) }),
  ],
  'from above the folders of its package': [
    'acme/pages/v1/page.proto',
    (type) => ({
      'acme/pages/v1/page.proto': page('acme/notes/note.proto', 'acme.pages.v1'),
      'acme/notes/note.proto': note(type),
    }),
  ],
  'through another import': [
    'page.proto',
    (type) => ({ 'page.proto': page('all.proto'), 'all.proto': PUBLIC, 'notes/note.proto': note(type) }),
  ],
}

for (const [name, [file, filesOf]] of Object.entries(LAYOUTS))
  test(`an import is read ${name}`, async (t) => {
    const root = pair(t, filesOf)
    const sides = ['old', 'new'].map((side) => join(root, side, file))
    const { code, stdout } = await run(['diff', ...sides, '--format', 'json'])
    assert.equal(code, 1)
    assert.equal(at(JSON.parse(stdout), 'summary', 'analysis_complete'), true)
    assert.match(stdout, /"rule": ?"proto-field-type-changed"/)
    const same = await run(['diff', sides[0] ?? '', sides[0] ?? ''])
    assert.equal(same.code, 0, same.stderr)
  })

/** A repository with a tag for each type of the field. The working directory is its root until the test ends. */
function repository(t: TestContext, filesOf: (type: string) => Files, more: (root: string) => void = () => {}): string {
  const root = mkdtempSync(join(tmpdir(), 'preflight-refs-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const as = ['-c', 'user.name=a', '-c', 'user.email=a@b']
  const git = (...args: readonly string[]): unknown => execFileSync('git', [...as, ...args], { cwd: root })
  git('init', '-q', '-b', 'main')
  for (const [tag, type] of [
    ['v1', 'string'],
    ['v2', 'int32'],
  ] as const) {
    write(root, filesOf(type))
    if (tag === 'v1') more(root)
    git('add', '.')
    git('commit', '-q', '-m', tag)
    git('tag', tag)
  }
  const before = process.cwd()
  t.after(() => process.chdir(before))
  process.chdir(root)
  return root
}

const folders = (type: string): Files => ({
  'protos/page.proto': page('notes/note.proto'),
  'protos/notes/note.proto': note(type),
  'protos/.hidden/broken.proto': 'no proto',
  'protos/readme.md': '# Protos',
  'broken/a.proto': 'no proto',
  'other/readme.md': '# Other',
})

suite('a folder at a ref of a repository', () => {
  for (const [what, sides, place] of [
    ['and another ref', ['v1:protos', 'v2:protos'], 'v2:protos/notes/note.proto'],
    ['and the folder on disk', ['v1:protos', 'protos'], ' protos/notes/note.proto'],
    ['with a slash at its end', ['v1:protos/', 'v2:protos/'], 'v2:protos/notes/note.proto'],
    ['below it', ['v1:protos/notes', 'v2:protos/notes'], 'v2:protos/notes/note.proto'],
  ] as const)
    test(what, async (t) => {
      repository(t, folders)
      const { code, stdout, stderr } = await run(['diff', ...sides])
      assert.equal(code, 1, stderr)
      assert.match(stdout, /proto-field-type-changed/)
      assert.match(stdout, new RegExp(`${place}:1`))
      const same = await run(['diff', sides[0], sides[0]])
      assert.equal(same.code, 0, same.stderr)
    })

  test('the root of the repository, and what is no folder of .proto files', async (t) => {
    repository(t, (type) => ({ 'note.proto': note(type), 'docs/readme.md': '# Docs' }))
    const { code, stdout } = await run(['diff', 'v1:.', 'v2:.', '--format', 'json'])
    assert.equal(code, 1)
    assert.match(stdout, /proto-field-type-changed/)
    for (const [side, message] of [
      ['v1:docs', /v1:docs is a tree, not a file/],
      ['v1:absent', /the repository has no file "absent" at v1/],
      ['v1:../x', /is not a path inside the repository/],
    ] as const) {
      const refused = await run(['diff', side, 'note.proto'])
      assert.equal(refused.code, 2)
      assert.match(refused.stderr, message)
    }
  })

  test('a link is followed within the repository, and named where it leads elsewhere', async (t) => {
    const root = repository(t, folders, (folder) => {
      for (const [link, target] of [
        ['linked/note.proto', '../protos/notes/note.proto'],
        ['outside/note.proto', '/etc/note.proto'],
        ['above/note.proto', '../../note.proto'],
        ['dangling/note.proto', 'absent.proto'],
        ['loop/note.proto', 'note.proto'],
      ] as const) {
        mkdirSync(join(folder, dirname(link)))
        symlinkSync(target, join(folder, link))
      }
    })
    assert.ok(root)
    const linked = await run(['diff', 'v1:linked', 'v2:linked'])
    assert.equal(linked.code, 1, linked.stderr)
    assert.equal((await run(['diff', 'v1:linked', 'v1:protos/notes'])).code, 0)
    const file = await run(['diff', 'v1:linked/note.proto', 'v2:linked/note.proto'])
    assert.equal(file.code, 1, file.stderr)
    for (const [folder, message] of [
      ['outside', /v1:outside\/note\.proto is a link to a file outside the repository/],
      ['above', /v1:above\/note\.proto is a link to a file outside the repository/],
      ['dangling', /v1:dangling\/note\.proto is a link to a file that is not there/],
      ['loop', /v1:loop\/note\.proto is a link that leads back to itself/],
    ] as const)
      for (const side of [`v1:${folder}`, `v1:${folder}/note.proto`]) {
        const { code, stderr } = await run(['diff', side, 'v2:protos'])
        assert.equal(code, 2, stderr)
        assert.match(stderr, message)
      }
  })
})

test('the same at a ref of a repository, and by the other commands', async (t) => {
  const file = 'acme/pages/v1/page.proto'
  const filesOf = (type: string): Files => ({
    [file]: page('acme/notes/note.proto'),
    'acme/notes/note.proto': note(type),
  })
  repository(t, filesOf)
  const sides = [`v1:${file}`, `v2:${file}`]
  for (const args of [
    ['diff', ...sides],
    ['diff', sides[0] ?? '', file],
    ['preflight', ...sides, '--mode', 'analyze', '--local'],
    ['policy', 'simulate', 'default', ...sides],
  ]) {
    const { code, stdout, stderr } = await run(args)
    assert.equal(code, 1, `${args.join(' ')}: ${stderr}`)
    assert.match(stdout, /notes\.Note|Note\.text|proto-field-type-changed|field/i)
  }
  // The working directory is the root of imports, whatever the package is called.
  const { stdout } = await run(['diff', `v1:${file}`, file, '--format', 'github'])
  assert.match(stdout, /::error file=acme\/notes\/note\.proto,line=1,/)
})

for (const [sides, form] of [
  ['folders', 'folders'],
  ['files with imports', 'files'],
] as const)
  test(`every report names the file of a finding: ${sides}`, async (t) => {
    const file = 'notes/note.proto'
    const root = pair(t, (type) => ({ 'page.proto': page(file), [file]: note(type) }))
    const operands = ['old', 'new'].map((side) => join(root, side, form === 'folders' ? '' : 'page.proto'))
    const place = join(root, 'new', file)
    for (const [format, expected] of [
      ['text', `${place}:1:`],
      ['github', `file=${place},line=1,`],
      ['junit', `file="${place}" line="1"`],
      ['junit', `At: ${place}:1:`],
      ['sarif', `"uri": "file://${place}"`],
    ] as const) {
      const { stdout } = await run(['diff', ...operands, '--format', format])
      assert.ok(stdout.includes(expected), `${format}: ${expected} is not in ${stdout}`)
    }
  })

test('what is outside of the tree is not read, by its name or by a link', async (t) => {
  for (const [imported, expected] of [
    ['../../secret.proto', 3],
    ['secret.proto', 3],
    ['/etc/secret.proto', 3],
    ['./../../secret.proto', 3],
    ['link.proto', 2],
    ['folder/secret.proto', 2],
  ] as const) {
    const root = pair(t, () => ({ 'a/page.proto': page(imported) }))
    write(root, { 'secret.proto': note('string') })
    for (const side of ['old', 'new']) {
      symlinkSync(join(root, 'secret.proto'), join(root, side, 'a', 'link.proto'))
      symlinkSync(root, join(root, side, 'a', 'folder'))
    }
    const { code, stdout, stderr } = await run(['diff', join(root, 'old/a/page.proto'), join(root, 'new/a/page.proto')])
    assert.equal(code, expected, `${imported}: ${stderr}`)
    assert.match(stdout + stderr, expected === 2 ? /a link to a file outside/ : /not everything|secret\.proto/)
  }
})

test('two files of one name are refused, not chosen between', async (t) => {
  const root = pair(t, () => ({
    'pages/page.proto': page('note.proto'),
    'pages/note.proto': note('string'),
    'note.proto': note('bytes'),
  }))
  const { code, stderr } = await run(['diff', join(root, 'old/pages/page.proto'), join(root, 'new/pages/page.proto')])
  assert.equal(code, 2)
  assert.match(stderr, /"note\.proto" may be note\.proto or \.\.\/note\.proto/)
})

test('special files, chains and crowds of imports end the command', async (t) => {
  const chain = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [
      `c${index}.proto`,
      `syntax = "proto3"; import "c${index + 1}.proto"; message C${index} {}`,
    ]),
  )
  const crowd = Array.from({ length: 1001 }, (_, index) => `import "x${index}.proto";`).join('\n')
  const root = pair(t, () => ({
    ...chain,
    'crowd.proto': `syntax = "proto3";\n${crowd}`,
    'fifo.proto': page('pipe.proto'),
  }))
  for (const side of ['old', 'new']) execFileSync('mkfifo', [join(root, side, 'pipe.proto')])
  for (const [file, message] of [
    ['c0.proto', /more than 32 deep/],
    ['crowd.proto', /more than 1000 files/],
    ['fifo.proto', /is a FIFO and not a regular file/],
  ] as const) {
    const { code, stderr } = await run(['diff', join(root, 'old', file), join(root, 'new', file)])
    assert.equal(code, 2, file)
    assert.match(stderr, message)
  }
})

test('files that import each other end, and are read once', async (t) => {
  const root = pair(t, (type) => ({
    'page.proto': page('note.proto'),
    'note.proto': note(type, 'import "more.proto";'),
    'more.proto': 'syntax = "proto3"; import "note.proto"; message More { notes.Note note = 1; }',
  }))
  const { code, stdout } = await run(['diff', join(root, 'old/page.proto'), join(root, 'new/page.proto')])
  assert.equal(code, 1)
  assert.match(stdout, /1 breaking/)
})

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
  assert.match(annotations, /^::error file=\S+\/new\/notes\/note\.proto,line=1,/)
})
