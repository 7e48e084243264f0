/** `preflight init` for editors: what it changes, and how it takes it back. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { parse as parseJson } from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'
import { parse as parseYaml } from 'yaml'
import { isNpxCache } from '../../../gateway/cli/init.ts'
import { editorFiles, EDITORS } from '../../../gateway/editors/places.ts'
import { testAuthority } from '../../fakes/certificates.ts'
import { PREFLIGHT } from '../../fakes/desk.ts'
import { at } from '../../json.ts'
import { spawnSync } from 'node:child_process'

interface Person {
  readonly home: string
  readonly run: (...argv: readonly string[]) => {
    readonly code: number | null
    readonly stdout: string
    readonly stderr: string
  }
  readonly write: (path: string, text: string) => string
  readonly read: (path: string) => string
}

function person(t: TestContext): Person {
  const home = mkdtempSync(join(tmpdir(), 'preflight-person-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  mkdirSync(join(home, 'project'))
  const { PATH = '' } = process.env
  const env = { PATH, HOME: home, PREFLIGHT_HOME: join(home, '.preflight') }
  return {
    home,
    run(...argv) {
      const done = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', PREFLIGHT, ...argv], {
        cwd: join(home, 'project'),
        env,
        encoding: 'utf8',
        input: '',
        timeout: 60_000,
      })
      return { code: done.status, stdout: done.stdout, stderr: done.stderr }
    },
    write(path, text) {
      mkdirSync(dirname(join(home, path)), { recursive: true })
      writeFileSync(join(home, path), text)
      return join(home, path)
    },
    read: (path) => readFileSync(join(home, path), 'utf8'),
  }
}

const FILES_SERVER = '{ "command": "npx", "args": ["-y", "server-files", "/a b"], "env": { "TOKEN": "x" } }'

/** What each editor documents; the server is called Files. */
const CONFIGURATIONS: Readonly<Record<string, string>> = {
  '.claude.json': `{"mcpServers":{"Files":${FILES_SERVER}},"projects":{"/p":{"mcpServers":{"Files":${FILES_SERVER}}}},"numStartups":4}`,
  'project/.mcp.json': `{\n  "mcpServers": {\n    "Files": ${FILES_SERVER},\n    "far": { "type": "http", "url": "https://mcp.example/mcp" }\n  }\n}\n`,
  '.config/Claude/claude_desktop_config.json': `{ "mcpServers": { "Files": ${FILES_SERVER} } }`,
  '.cursor/mcp.json': `{ "mcpServers": { "Files": ${FILES_SERVER} } }`,
  '.config/Code/User/mcp.json': `{\n\t// secrets are asked for\n\t"inputs": [{ "type": "promptString", "id": "k", "description": "Key", "password": true }],\n\t"servers": { "Files": { "type": "stdio", "command": "uvx", "args": ["server-files==1.2"], "env": { "K": "\${input:k}" } }, },\n}\n`,
  '.codeium/windsurf/mcp_config.json': `{ "mcpServers": { "Files": ${FILES_SERVER}, "far": { "serverUrl": "https://mcp.example/sse" } } }`,
  '.config/zed/settings.json': `// Zed\n{\n  "theme": "One Dark", // mine\n  "context_servers": {\n    "Files": { "source": "custom", "command": "npx", "args": ["server-files"], "env": {} },\n    "old": { "command": { "path": "server-old", "args": ["--x"], "env": {} } }\n  }\n}\n`,
  '.gemini/settings.json': `{ "mcpServers": { "Files": ${FILES_SERVER}, "far": { "httpUrl": "https://mcp.example/mcp" } } }`,
  '.codex/config.toml': `# mine\nmodel = "o9"\n\n[mcp_servers.Files] # files\ncommand = "npx" # the launcher\nargs = [\n  "-y", # yes\n  "server-files",\n]\n\n[mcp_servers.Files.env]\nTOKEN = "x"\n\n[mcp_servers."with space"]\ncommand = 'server'\n\n[mcp_servers.far]\nurl = "https://mcp.example/mcp"\n`,
}

const value = (path: string, text: string): unknown => (path.endsWith('.toml') ? parseToml(text) : parseJson(text))
const SERVERS: Readonly<Record<string, readonly string[]>> = {
  '.config/Code/User/mcp.json': ['servers'],
  '.config/zed/settings.json': ['context_servers'],
  '.codex/config.toml': ['mcp_servers'],
}

test('init shows what it would change, changes it with --write, and undoes it byte by byte', (t) => {
  const { run, write, read } = person(t)
  for (const [path, text] of Object.entries(CONFIGURATIONS)) write(path, text)
  const shown = run('init')
  assert.equal(shown.code, 0, shown.stderr)
  assert.match(shown.stdout, /9 files would change/)
  assert.match(shown.stdout, /far: not changed; it is reached over HTTP \(https:\/\/mcp\.example\/mcp\)/)
  for (const [path, text] of Object.entries(CONFIGURATIONS)) assert.equal(read(path), text)

  const written = run('init', '--write')
  assert.match(written.stdout, /9 files changed/)
  for (const [path, text] of Object.entries(CONFIGURATIONS)) {
    const [member = 'mcpServers'] = SERVERS[path] ?? []
    const server = at(value(path, read(path)), member, 'Files')
    assert.equal(at(server, 'command'), process.execPath, path)
    const args: unknown = at(server, 'args')
    const before = at(value(path, text), member, 'Files')
    assert.deepEqual(args, [
      PREFLIGHT,
      'mcp',
      '--name',
      'files',
      '--',
      at(before, 'command'),
      ...[at(before, 'args')].flat(),
    ])
    assert.deepEqual(at(server, 'env'), at(before, 'env'))
  }
  assert.equal(
    at(parseJson(read('.claude.json')), 'projects', '/p', 'mcpServers', 'Files', 'command'),
    process.execPath,
  )
  assert.equal(
    at(parseJson(read('.config/zed/settings.json')), 'context_servers', 'old', 'command', 'path'),
    process.execPath,
  )
  assert.equal(at(parseToml(read('.codex/config.toml')), 'mcp_servers', 'with space', 'command'), process.execPath)
  for (const comment of ['// secrets are asked for', '// Zed', '// mine'])
    assert.ok(
      Object.keys(CONFIGURATIONS).some((path) => read(path).includes(comment)),
      comment,
    )
  for (const comment of ['# mine', '# files', '# the launcher'])
    assert.ok(read('.codex/config.toml').includes(comment), comment)

  assert.match(run('init', '--write').stdout, /Nothing to change/)
  assert.match(run('doctor').stdout, /behind preflight: Files/)
  assert.match(run('init', '--undo').stdout, /9 files would change/)
  run('init', '--undo', '--write')
  for (const [path, text] of Object.entries(CONFIGURATIONS)) assert.equal(read(path), text, path)
})

test('a file that changed meanwhile keeps its changes when it is undone', (t) => {
  const { run, write, read } = person(t)
  write('.cursor/mcp.json', '{ "mcpServers": { "a": { "command": "server-a", "args": ["1"] } } }')
  run('init', '--write')
  write(
    '.cursor/mcp.json',
    read('.cursor/mcp.json').replace('"mcpServers": {', '"mcpServers": { "b": { "command": "server-b" },'),
  )
  run('init', '--undo', '--write')
  assert.deepEqual(parseJson(read('.cursor/mcp.json')), {
    mcpServers: { a: { command: 'server-a', args: ['1'] }, b: { command: 'server-b' } },
  })
})

test('a file that cannot be read is left as it is, and named', (t) => {
  const { run, write, read, home } = person(t)
  write('.cursor/mcp.json', '{ "mcpServers": ')
  const done = run('init', '--write')
  assert.equal(done.code, 1)
  assert.match(done.stdout, /cursor\/mcp\.json\n {2}not changed: line 1/)
  assert.equal(read('.cursor/mcp.json'), '{ "mcpServers": ')
  const file = write('.gemini/settings.json', `{ "mcpServers": { "a": { "command": "server-a" } } }`)
  const { mode } = statSync(file)
  run('init', '--write', '--editor', 'gemini', '--command', 'npx -y preflight-gateway')
  assert.deepEqual(at(parseJson(read('.gemini/settings.json')), 'mcpServers', 'a', 'args'), [
    '-y',
    'preflight-gateway',
    'mcp',
    '--name',
    'a',
    '--',
    'server-a',
  ])
  assert.equal(statSync(join(home, '.gemini/settings.json')).mode, mode)
})

test('the places of every editor are known on the three systems', () => {
  for (const platform of ['linux', 'darwin', 'win32'] as const) {
    const files = editorFiles({ home: '/home/me', folder: '/work', platform, environment: { APPDATA: '/roaming' } })
    assert.deepEqual([...new Set(files.map(({ editor }) => editor))], [...EDITORS])
  }
})

test('a first configuration for an API and for a cluster', async (t) => {
  const { run, read, write } = person(t)
  const ca = write('ca.pem', (await testAuthority()).certificate)
  const flags = [
    '--upstream',
    'https://shop.example/api',
    '--contract',
    'https://shop.example/openapi.json',
    '--name',
    'Shop',
  ]
  assert.match(run('init', 'api', ...flags).stdout, /protocol: http/)
  assert.equal(run('init', 'api', ...flags, '--write').code, 0)
  const written: unknown = parseYaml(read('project/preflight.yaml'))
  assert.equal(at(written, 'routes', 0, 'contract', 'current', 'url'), 'https://shop.example/openapi.json')
  assert.match(run('init', 'api', ...flags, '--write').stderr, /exists/)
  const missing = run('init', 'cluster')
  assert.equal(missing.code, 2)
  assert.match(missing.stderr, /state --upstream, --ca, --name/)
  const cluster = [
    '--upstream',
    'https://10.0.0.1:6443',
    '--ca',
    ca,
    '--name',
    'cluster',
    '--file',
    'c.yaml',
    '--write',
  ]
  assert.equal(run('init', 'cluster', ...cluster).code, 0)
  assert.equal(at(parseYaml(read('project/c.yaml')), 'routes', 0, 'protocol'), 'kubernetes')
  assert.equal(run('config', 'check', '--config', 'preflight.yaml').code, 0)
})

test('doctor names what is wrong: a mistake in the configuration, a daemon that did not start, a folder that is open', (t) => {
  const { run, write } = person(t)
  const fine = run('doctor')
  assert.equal(fine.code, 0, fine.stdout)
  assert.match(fine.stdout, /Nothing is wrong/)
  write('project/preflight.yaml', 'routs: []\n')
  write('.preflight/daemon.fault', 'The port is taken.')
  const broken = run('doctor')
  assert.equal(broken.code, 1)
  assert.match(broken.stdout, /FAIL .*preflight\.yaml:1:1/)
  assert.match(broken.stdout, /FAIL the last daemon did not start: The port is taken/)
  assert.match(broken.stdout, /FAIL other users can enter/)
  assert.match(broken.stdout, /3 problems/)
})

test('doctor names the configuration, and servers whose preflight was removed', (t) => {
  const { run, write } = person(t)
  assert.match(run('doctor').stdout, /ok +the default configuration can be used/)
  const args = ['/gone/preflight.js', 'mcp', '--name', 'a', '--', 'server-a']
  write('project/.mcp.json', JSON.stringify({ mcpServers: { a: { command: process.execPath, args } } }))
  write('project/preflight.yaml', 'routes: []\n')
  const looked = run('doctor')
  assert.equal(looked.code, 1)
  assert.match(looked.stdout, /ok +preflight\.yaml can be used/)
  assert.match(
    looked.stdout,
    /FAIL Claude Code, this project: a cannot start, \/gone\/preflight\.js is gone; run preflight init/,
  )
})

test('a preflight in the cache of npx is recognised by its place', () => {
  assert.equal(isNpxCache('/home/me/.npm/_npx/0a1b/node_modules/preflight-gateway/dist/preflight.js'), true)
  assert.equal(isNpxCache('C:\\npm-cache\\_npx\\0a1b\\preflight.js'), true)
  assert.equal(isNpxCache('/usr/lib/node_modules/preflight-gateway/dist/preflight.js'), false)
})
