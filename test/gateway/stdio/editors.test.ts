/**
 * `preflight init` and `doctor` over the files of every editor. One table: where an editor documents its files, and how a
 * server is written in them. Each test runs over all rows.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { parse as parseToml } from 'smol-toml'
import { editorFiles, EDITORS, type EditorName } from '../../../gateway/editors/places.ts'
import { run, type Ran } from '../../fakes/command-io.ts'
import { PREFLIGHT } from '../../fakes/desk.ts'
import { at } from '../../json.ts'

/** Below the home folder `~`, the project `.` or, on Windows, the roaming settings `%APPDATA%`. */
interface DocumentedFile {
  readonly linux: string
  readonly darwin: string
  readonly win32: string
  /** A configuration with the marks COMMAND and ARGS for what changes. */
  readonly text: string
}

const COMMAND = '‹command›'
const ARGS = '‹args›'
const FAR = 'https://mcp.example/mcp'

/** JSON with comments, spaces and trailing commas that all stay. */
function jsonText(servers: readonly string[], far: object, local: string): string {
  const opened = servers.map((member) => `  ${JSON.stringify(member)}: {`).join('\n')
  return `{
  // settings that are none of preflight
  "before": [1,  2],   /* two spaces */
${opened}
\t"local": { ${local}"command": ${COMMAND}, // the program
      "args": ${ARGS}, "env": { "TOKEN": "x" }, },
    "far": ${JSON.stringify(far)}, // over HTTP
    "kept": { "command": "preflight", "args": ["mcp", "--name", "kept", "--", "server-kept"] },
${servers.map(() => '  },').join('\n')}
  "after": "ü",
}
`
}

/** Older versions of Zed have the command in an object of its own. */
const NESTED_TEXT = `// Zed
{
  "context_servers": {
    "local": { "command": { "path": ${COMMAND}, "args": ${ARGS}, "env": {} }, "settings": { "name": "ü" } },
    "far": { "url": "${FAR}" },
    "kept": { "command": { "path": "preflight", "args": ["mcp", "--name", "kept", "--", "server-kept"] } } /* last */
  }
}
`

const TOML_TEXT = `# settings that are none of preflight
model = "o9"   # two spaces

[mcp_servers.local] # about the server
command = ${COMMAND} # the program
args = ${ARGS} # its arguments
env = { TOKEN = "ü" }

[mcp_servers.far]
url = "${FAR}"

[mcp_servers.kept]
command = 'preflight'
args = [
  "mcp", # stdio
  "--name", "kept", "--", "server-kept",
]
`

const everywhere = (file: string, text: string): DocumentedFile => ({ linux: file, darwin: file, win32: file, text })
const MCP_SERVERS = jsonText(['mcpServers'], { type: 'http', url: FAR }, '"type": "stdio", ')
const VSCODE_TEXT = jsonText(['servers'], { type: 'http', url: FAR }, '"type": "stdio", ')
const ZED_TEXT = jsonText(['context_servers'], { url: FAR }, '"source": "custom", ')
const GEMINI_TEXT = jsonText(['mcpServers'], { httpUrl: FAR }, '"trust": false, ')

const TABLE: Readonly<Record<EditorName, readonly DocumentedFile[]>> = {
  'claude-code': [
    everywhere('~/.claude.json', jsonText(['projects', '/p', 'mcpServers'], { type: 'http', url: FAR }, '')),
    everywhere('./.mcp.json', MCP_SERVERS),
  ],
  'claude-desktop': [
    {
      linux: '~/.config/Claude/claude_desktop_config.json',
      darwin: '~/Library/Application Support/Claude/claude_desktop_config.json',
      win32: '%APPDATA%/Claude/claude_desktop_config.json',
      text: MCP_SERVERS,
    },
  ],
  cursor: [everywhere('~/.cursor/mcp.json', MCP_SERVERS), everywhere('./.cursor/mcp.json', MCP_SERVERS)],
  vscode: [
    {
      linux: '~/.config/Code/User/mcp.json',
      darwin: '~/Library/Application Support/Code/User/mcp.json',
      win32: '%APPDATA%/Code/User/mcp.json',
      text: VSCODE_TEXT,
    },
    {
      linux: '~/.config/Code/User/settings.json',
      darwin: '~/Library/Application Support/Code/User/settings.json',
      win32: '%APPDATA%/Code/User/settings.json',
      text: jsonText(['mcp', 'servers'], { type: 'sse', url: FAR }, ''),
    },
    everywhere('./.vscode/mcp.json', VSCODE_TEXT),
  ],
  windsurf: [
    everywhere(
      '~/.codeium/windsurf/mcp_config.json',
      jsonText(['mcpServers'], { serverUrl: FAR }, '"disabled": false, '),
    ),
  ],
  zed: [
    {
      linux: '~/.config/zed/settings.json',
      darwin: '~/.config/zed/settings.json',
      win32: '%APPDATA%/Zed/settings.json',
      text: ZED_TEXT,
    },
    everywhere('./.zed/settings.json', NESTED_TEXT),
  ],
  gemini: [everywhere('~/.gemini/settings.json', GEMINI_TEXT), everywhere('./.gemini/settings.json', GEMINI_TEXT)],
  codex: [everywhere('~/.codex/config.toml', TOML_TEXT), everywhere('./.codex/config.toml', TOML_TEXT)],
}

/** Ways in which an editor or a person may have saved the same text. */
const SAVED: Readonly<Record<string, (text: string) => string>> = {
  'line feeds': (text) => text,
  'carriage returns': (text) => text.replaceAll('\n', '\r\n'),
  'a byte order mark': (text) => `\uFEFF${text}`,
  'no end of the last line': (text) => text.trimEnd(),
}

/** Files that are left as they are, and what is said of them. */
const BROKEN: Readonly<Record<string, readonly [bytes: (text: string, name: string) => Buffer, said: RegExp]>> = {
  'ends in the middle': [(text) => Buffer.from(text.slice(0, text.indexOf(COMMAND))), /line \d+: /],
  'is not UTF-8': [(text) => Buffer.from(original(text), 'latin1'), /it is not UTF-8; save it as UTF-8/],
  'names a server twice': [
    (text, name) => Buffer.from(twice(original(text), name)),
    /the member "local" is there twice; remove one|line \d+: /,
  ],
}

/** JSON with the server `local` once more; TOML with its table once more. */
function twice(text: string, name: string): string {
  if (name.endsWith('.toml')) return `${text}\n[mcp_servers.local]\ncommand = "other"\n`
  return text.replace('"far":', '"local": { "command": "other" }, "far":')
}

function original(text: string): string {
  return text.replace(COMMAND, '"npx"').replace(ARGS, '["-y", "server-local", "/a b"]')
}

class Installation {
  readonly root: string
  readonly #environment: Readonly<Record<string, string>>

  constructor(t: TestContext) {
    this.root = mkdtempSync(join(tmpdir(), 'preflight-editors-'))
    const started = process.cwd()
    t.after(() => {
      process.chdir(started)
      rmSync(this.root, { recursive: true, force: true })
    })
    mkdirSync(join(this.root, 'project'))
    process.chdir(join(this.root, 'project'))
    this.#environment = {
      HOME: this.root,
      APPDATA: join(this.root, 'roaming'),
      PREFLIGHT_HOME: join(this.root, '.preflight'),
    }
  }

  place(file: DocumentedFile): string {
    const platform = process.platform === 'darwin' || process.platform === 'win32' ? process.platform : 'linux'
    return placed(file[platform], this.root, join(this.root, 'project'), join(this.root, 'roaming'))
  }

  write(file: DocumentedFile, bytes: Buffer): void {
    mkdirSync(dirname(this.place(file)), { recursive: true })
    writeFileSync(this.place(file), bytes)
  }

  text(file: DocumentedFile): string {
    return readFileSync(this.place(file), 'utf8')
  }

  run(...argv: readonly string[]): Promise<Ran> {
    return run(argv, { environment: this.#environment })
  }
}

function placed(file: string, home: string, project: string, roaming: string): string {
  return file
    .replace(/^~/, home)
    .replace(/^\.(?=\/)/, project)
    .replace('%APPDATA%', roaming)
}

/** What stands at the marks now; fails if any other byte changed. */
function changedValues(now: string, marked: string): { readonly command: string; readonly args: string } {
  const [head = '', middle = '', tail = ''] = marked.split(new RegExp(`${COMMAND}|${ARGS}`))
  assert.ok(now.startsWith(head), 'the text before the command changed')
  assert.ok(now.endsWith(tail), 'the text behind the arguments changed')
  const [command = '', args = '', ...more] = now.slice(head.length, now.length - tail.length).split(middle)
  assert.deepEqual(more, [])
  return { command, args }
}

const valueOf = (text: string): unknown => at(parseToml(`value = ${text}`), 'value')

test('every editor keeps its servers where its documents say, on the three systems', () => {
  for (const platform of ['linux', 'darwin', 'win32'] as const) {
    const site = { home: '/home/me', folder: '/work', platform, environment: { APPDATA: '/roaming' } }
    for (const editor of EDITORS)
      assert.deepEqual(
        editorFiles(site).flatMap((place) => (place.editor === editor ? [place.file] : [])),
        TABLE[editor].map((file) => placed(file[platform], '/home/me', '/work', '/roaming')),
      )
  }
})

test('the variables that move the files of an editor are followed', () => {
  const environment = {
    CLAUDE_CONFIG_DIR: '/moved/claude',
    CODEX_HOME: '/moved/codex',
    XDG_CONFIG_HOME: '/moved/config',
  }
  const files = editorFiles({ home: '/home/me', folder: '/work', platform: 'linux', environment }).map(
    ({ file }) => file,
  )
  const moved = ['claude/.claude.json', 'codex/config.toml', 'config/zed/settings.json', 'config/Code/User/mcp.json']
  for (const file of moved) assert.ok(files.includes(`/moved/${file}`), file)
})

for (const editor of EDITORS)
  for (const [saved, save] of Object.entries(SAVED))
    test(`init changes only the command of a server of ${editor}, and takes it back byte by byte: ${saved}`, async (t) => {
      const person = new Installation(t)
      const files = TABLE[editor]
      for (const file of files) person.write(file, Buffer.from(save(original(file.text))))
      const own = ['init', '--editor', editor]

      const shown = await person.run(...own)
      assert.equal(shown.code, 0, shown.stdout + shown.stderr)
      for (const line of [
        / {2}local: .* mcp --name local -- npx -y server-local '\/a b'$/gm,
        / {2}kept: is behind preflight$/gm,
      ])
        assert.equal([...shown.stdout.matchAll(line)].length, files.length, shown.stdout)
      assert.equal(shown.stdout.split(`far: not changed; it is reached over HTTP (${FAR})`).length - 1, files.length)
      for (const file of files) assert.equal(person.text(file), save(original(file.text)))

      assert.equal((await person.run(...own, '--write')).code, 0)
      const written = files.map((file) => person.text(file))
      for (const [index, file] of files.entries()) {
        const { command, args } = changedValues(written[index] ?? '', save(file.text))
        assert.equal(valueOf(command), process.execPath)
        const wanted = [PREFLIGHT, 'mcp', '--name', 'local', '--', 'npx', '-y', 'server-local', '/a b']
        assert.deepEqual(valueOf(args), wanted)
      }

      assert.match((await person.run(...own, '--write')).stdout, /Nothing to change/)
      assert.deepEqual(
        files.map((file) => person.text(file)),
        written,
      )
      const looked = await person.run('doctor')
      assert.equal(looked.stdout.split('behind preflight: local, kept').length - 1, files.length, looked.stdout)

      assert.equal((await person.run(...own, '--undo', '--write')).code, 0)
      for (const file of files) assert.equal(person.text(file), save(original(file.text)))
    })

for (const editor of EDITORS)
  for (const [fault, [bytes, said]] of Object.entries(BROKEN))
    test(`a file of ${editor} that ${fault} is left as it is, and named by init and doctor`, async (t) => {
      const person = new Installation(t)
      for (const file of TABLE[editor]) {
        const text = bytes(file.text, person.place(file))
        person.write(file, text)
        const done = await person.run('init', '--write')
        assert.equal(done.code, 1)
        assert.match(done.stdout, new RegExp(String.raw`\n {2}not changed: (?:${said.source})`))
        assert.deepEqual(readFileSync(person.place(file)), text)
        const looked = await person.run('doctor')
        assert.equal(looked.code, 1)
        const [line = ''] = looked.stdout.split('\n').filter((one) => one.includes(person.place(file)))
        assert.match(line, new RegExp(`FAIL .*cannot be read or changed: (?:${said.source})`))
        rmSync(person.place(file))
      }
    })

/** Other forms in which people write the same server. COMMAND and ARGS stand once for each server. */
const FORMS: Readonly<Record<string, readonly [file: DocumentedFile, text: string]>> = {
  'an inline table of servers': [
    everywhere('~/.codex/config.toml', ''),
    `mcp_servers = { local = { command = ${COMMAND}, args = ${ARGS}, env = { A = "}" } }, far = { url = "${FAR}" } } # all\n`,
  ],
  'an inline table in the table of servers': [
    everywhere('~/.codex/config.toml', ''),
    `[mcp_servers] # all\n"local" = {command = ${COMMAND}  , args=${ARGS}} # one\nother.url = "${FAR}"\n`,
  ],
  'dotted keys': [
    everywhere('~/.codex/config.toml', ''),
    `mcp_servers.local.command = ${COMMAND} # p\nmcp_servers . "local" . 'args' = ${ARGS}\n\n[[profiles]]\nname = """x [mcp_servers.local] """"\n`,
  ],
  'dotted keys in the table of servers': [
    everywhere('~/.codex/config.toml', ''),
    `[ mcp_servers ]\n  local.args = ${ARGS}\n  local.command = ${COMMAND}\n[mcp_servers.far]\nurl = "${FAR}"\n[[mcp_servers_of_others]]\ncommand = "x"\n`,
  ],
  'several projects': [
    everywhere('~/.claude.json', ''),
    `{ "mcpServers": {}, "projects": { "/a": { "mcpServers": { "far": { "url": "${FAR}" } } }, // none
  "/b": { "mcpServers": { "local": { "command": ${COMMAND}, "args": ${ARGS}, }, }, }, "/c": {} } }\n`,
  ],
}

/** Arguments that a person wrote on several lines; the items stay as they are. */
const LISTS: Readonly<Record<string, (mark: string) => string>> = {
  'one line': () => '["-y", "server-local", "/a b"]',
  'several lines with comments': (mark) =>
    `[\n    ${mark} why\n    "-y", ${mark} yes\n    "server-local",\n    "/a b",\n  ]`,
}

for (const [form, [file, marked]] of Object.entries(FORMS))
  for (const [listed, list] of Object.entries(LISTS))
    for (const [saved, save] of Object.entries(SAVED))
      test(`init changes a server in ${form}, its arguments on ${listed}, and takes it back: ${saved}`, async (t) => {
        const person = new Installation(t)
        const mark = file.linux.endsWith('.toml') ? '#' : '//'
        const text = save(marked.replace(COMMAND, '"npx"').replace(ARGS, list(mark)))
        person.write(file, Buffer.from(text))

        assert.equal((await person.run('init', '--write')).code, 0)
        const written = person.text(file)
        assert.match(written, /"mcp", "--name", "local", "--", "npx",\s/)
        for (const comment of text.match(/(?:#|\/\/) \w+/g) ?? []) assert.ok(written.includes(comment), comment)
        assert.match((await person.run('init', '--write')).stdout, /Nothing to change/)

        // Changed by its owner meanwhile: the text before is no longer what belongs there.
        const added = `${mark} mine\n`
        person.write(file, Buffer.from(`${written}\n${added}`))
        assert.equal((await person.run('init', '--undo', '--write')).code, 0)
        assert.equal(person.text(file), `${text}\n${added}`)

        person.write(file, Buffer.from(written))
        assert.equal((await person.run('init', '--undo', '--write')).code, 0)
        assert.equal(person.text(file), text)
      })

test('a server of Codex without arguments gets them in the form of its command', async (t) => {
  const person = new Installation(t)
  const file = everywhere('~/.codex/config.toml', '')
  for (const [text, wanted] of [
    ['mcp_servers = { a = { command = "x" } }\n', /= \{ args = \[.*"x"\], command = /],
    ['[mcp_servers]\r\n\ta.command = "x"\r\n', /^\ta\.args = \[.*"x"\]\r\n\ta\.command = .*\r\n$/m],
    ['[mcp_servers.a]\ncommand = "x"', /^args = \[.*"x"\]\ncommand = /m],
  ] as const) {
    person.write(file, Buffer.from(text))
    assert.equal((await person.run('init', '--write')).code, 0)
    assert.match(person.text(file), wanted)
    assert.equal((await person.run('init', '--undo', '--write')).code, 0)
    assert.equal(person.text(file), text)
  }
})
