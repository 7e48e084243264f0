/** A FIFO, a device, a folder or a loop of links where a file is expected: an immediate error, on every command line and in every setting. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { startGateway } from '../../gateway/main.ts'
import { createLogger } from '../../gateway/telemetry/log.ts'
import { devNull, FREE_PORTS, TEST_KEY } from '../fakes/gateway.ts'
import { run } from '../fakes/command-io.ts'

const KINDS: Readonly<Record<string, (path: string) => unknown>> = {
  'a FIFO': (path) => execFileSync('mkfifo', [path]),
  'a device': (path) => symlinkSync('/dev/zero', path),
  'a folder': (path) => mkdirSync(path),
  'a loop of links': (path) => symlinkSync(path, path),
}

/** What each is called, so that the message is about the file and about nothing that was read from it. */
const WORDS: Readonly<Record<string, RegExp>> = {
  'a FIFO': /a FIFO|is not a git|cannot be (?:created|opened)|not a (?:regular )?file/,
  'a device': /a device|is not a git|cannot be (?:created|opened)|not a (?:regular )?file/,
  'a folder': /EISDIR|is not a git|unable to open|directory|folder|not a (?:regular )?file/,
  'a loop of links':
    /ELOOP|is not a file, a <ref>|it is not a checkpoint|too many symbolic links|is not a git|cannot be (?:made|created|read|opened)/,
}

let folder = ''
let rescuer: ReturnType<typeof spawn> | null = null
const paths: Record<string, string> = {}
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'preflight-special-'))
  for (const [kind, make] of Object.entries(KINDS)) make((paths[kind] = join(folder, kind.replaceAll(' ', '-'))))
  writeFileSync(join(folder, 'good.yaml'), 'openapi: 3.0.3\ninfo: {title: t, version: "1"}\npaths: {}\n')
  writeFileSync(join(folder, 'keys.json'), '{"keys":[]}')
  assert.equal(await startFault({}), '')
  // Whoever waits for a FIFO is let go in the end, with a text that no message below has.
  rescuer = spawn(
    'sh',
    [
      '-c',
      'while sleep 30; do for f in "$0"/a-FIFO "$0"/*/fifo*; do [ -p "$f" ] && echo x <>"$f" >"$f"; done; done',
      folder,
    ],
    { stdio: 'ignore', detached: true },
  )
})
after(() => {
  // With the program that it runs.
  if (rescuer?.pid !== undefined) process.kill(-rescuer.pid)
  rmSync(folder, { recursive: true, force: true })
})

const good = () => join(folder, 'good.yaml')

/** Command line → the same with the path in place of FILE. */
const COMMAND_LINES: readonly (readonly string[])[] = [
  ['serve', '--config', 'FILE'],
  ['diff', 'FILE', 'GOOD'],
  ['diff', 'GOOD', 'FILE'],
  ['diff', 'GOOD', 'GOOD', '--ignore', 'FILE'],
  ['preflight', 'FILE', 'GOOD', '--mode', 'analyze', '--local'],
  ['preflight', 'GOOD', 'FILE', '--mode', 'analyze', '--local'],
  ['preflight', '--change-set', 'FILE', '--mode', 'analyze', '--local'],
  ['preflight', 'GOOD', 'GOOD', '--mode', 'analyze', '--local', '--config', 'FILE'],
  ['verify', 'a.b.c', '--operation', 'merge', '--keys', 'FILE'],
  ['verify', 'a.b.c', '--operation', 'merge', '--keys', 'KEYS', '--envelope', 'FILE'],
  ['policy', 'lint', 'FILE'],
  ['policy', 'test', 'FILE'],
  ['policy', 'test', 'default', '--cases', 'FILE'],
  ['policy', 'simulate', 'FILE', 'GOOD', 'GOOD'],
  ['policy', 'simulate', 'default', 'FILE', 'GOOD'],
  ['policy', 'replay', 'FILE'],
  ['ledger', 'verify', '--checkpoint', 'FILE'],
  ['ledger', 'list', '--config', 'FILE'],
  ['keys', 'list', '--config', 'FILE'],
  ['approvals', 'list', '--config', 'FILE'],
  ['baselines', 'list', '--config', 'FILE'],
  ['break-glass', 'list', '--config', 'FILE'],
  ['ca', 'show', '--config', 'FILE'],
]

describe('a command line', () => {
  for (const argv of COMMAND_LINES)
    for (const kind of Object.keys(KINDS))
      it(`preflight ${argv.join(' ')}: ${kind}`, async () => {
        const file = paths[kind] ?? ''
        const given = argv.map((word) =>
          word === 'FILE' ? file : word === 'GOOD' ? good() : word === 'KEYS' ? join(folder, 'keys.json') : word,
        )
        const { code, stdout, stderr } = await run(given, { environment: { PREFLIGHT_DATA_DIR: join(folder, 'data') } })
        assert.ok(code === 2 || code === 1, `${code} ${stderr}`)
        assert.match(stdout + stderr, WORDS[kind] ?? /never/)
      })
})

type Routed = Readonly<Record<string, unknown>>
const ROUTE = { name: 'r', match: { path: '/' }, upstream: 'http://127.0.0.1:1', protocol: 'http' }
const routed = (more: Routed): object => ({ routes: [{ ...ROUTE, ...more }] })

/** Setting → a configuration that has the path there. */
const SETTINGS: Readonly<Record<string, (file: string) => object>> = {
  policy: (file) => ({ policy: file }),
  consumers_file: (file) => ({ consumers_file: file }),
  'contract.baseline.file': (file) => routed({ contract: { baseline: { file }, current: { file: good() } } }),
  'contract.current.file': (file) => routed({ contract: { baseline: { file: good() }, current: { file } } }),
  'tls.ca.certificate': (file) => ({ tls: { ca: { certificate: file, key: good() } } }),
  'tls.upstream_ca': (file) => routed({ tls: { upstream_ca: file } }),
  'graphql.documents': (file) =>
    routed({ protocol: 'graphql', contract: { current: { file: good() } }, graphql: { documents: file } }),
  'scm.github.app.key_file': (file) => ({ scm: { github: { app: { id: '1', key_file: file } } } }),
  'diff.repository': (file) => ({ diff: { repository: file } }),
  'store.url': (file) => ({ store: { url: `file:${file}` }, data_dir: mkdtempSync(join(folder, 'data-')) }),
  data_dir: (file) => ({ data_dir: file }),
}

/** In the data directory → the same. */
const OWN_FILES = ['ledger.db', 'receipt-keys.json', 'ledger-checkpoint.jwt']

async function startFault(value: object): Promise<string> {
  try {
    const gateway = await startGateway(
      {
        value: { listen: FREE_PORTS, data_dir: join(folder, 'data'), ...value },
        environment: { PREFLIGHT_BOOTSTRAP_KEY: TEST_KEY },
      },
      { output: devNull(), logger: createLogger('silent') },
    )
    await gateway.close()
    return ''
  } catch (error) {
    return error instanceof Error ? error.message : 'no error'
  }
}

describe('a setting', () => {
  for (const [setting, valueOf] of Object.entries(SETTINGS))
    for (const kind of Object.keys(KINDS))
      it(`${setting}: ${kind}`, async () => {
        const fault = await startFault(valueOf(paths[kind] ?? ''))
        if (setting === 'data_dir' && kind === 'a folder') return assert.equal(fault, '')
        assert.match(
          fault,
          new RegExp(
            setting === 'store.url' || setting === 'data_dir'
              ? (paths[kind] ?? '')
              : `\\(${setting.startsWith('contract') || setting.startsWith('graphql') || setting === 'tls.upstream_ca' ? 'routes\\[0\\]\\.' : ''}${setting}`,
          ),
        )
        assert.match(fault, WORDS[kind] ?? /never/)
      })
  for (const name of OWN_FILES)
    for (const [kind, make] of Object.entries(KINDS))
      it(`${name} in data_dir: ${kind}`, async () => {
        const data = mkdtempSync(join(folder, 'data-'))
        if (name !== 'ledger.db') assert.equal(await startFault({ data_dir: data }), '')
        rmSync(join(data, name), { force: true })
        make(join(data, name))
        const fault = await startFault({ data_dir: data })
        assert.ok(fault.includes(join(data, name)), fault)
      })
})

describe('a document of a stranger', () => {
  for (const [what, link] of [
    ['a file outside', () => join(folder, 'secret.yaml')],
    ['a folder outside', () => folder],
  ] as const)
    it(`reads nothing behind a link to ${what}`, async () => {
      const checkout = mkdtempSync(join(folder, 'checkout-'))
      writeFileSync(join(folder, 'secret.yaml'), 'type: string\ndescription: hidden\n')
      symlinkSync(link(), join(checkout, 'link.yaml'))
      const reference = what === 'a folder outside' ? './link.yaml/secret.yaml' : './link.yaml'
      const document = join(checkout, 'api.yaml')
      writeFileSync(
        document,
        `openapi: 3.0.3\ninfo: {title: t, version: "1"}\npaths: {}\ncomponents: {schemas: {a: {$ref: ${reference}}}}\n`,
      )
      const { code, stdout, stderr } = await run(['diff', document, good()])
      assert.equal(code, 2)
      assert.match(stderr, /a link to a file outside/)
      assert.doesNotMatch(stdout + stderr, /hidden/)
    })
})

describe('a receipt that is written', () => {
  for (const kind of ['a FIFO', 'a device', 'a folder'])
    it(`goes not into ${kind}`, async (t) => {
      const { url, close } = await api()
      t.after(close)
      const argv = [
        'preflight',
        good(),
        good(),
        '--mode',
        'authorize',
        '--operation',
        'merge',
        '--url',
        url,
        '--receipt',
        paths[kind] ?? '',
      ]
      const { code, stderr } = await run(argv, { environment: { PREFLIGHT_API_KEY: TEST_KEY } })
      assert.equal(code, 2, stderr)
      assert.match(stderr, /not a regular file/)
    })

  it('goes not where a link leads, and nobody else may read it', async (t) => {
    const { url, close } = await api()
    t.after(close)
    const file = join(folder, 'receipt.jwt')
    writeFileSync(join(folder, 'target'), 'kept', { mode: 0o644 })
    symlinkSync(join(folder, 'target'), file)
    const argv = [
      'preflight',
      good(),
      good(),
      '--mode',
      'authorize',
      '--operation',
      'merge',
      '--url',
      url,
      '--receipt',
      file,
    ]
    const { code, stderr } = await run(argv, { environment: { PREFLIGHT_API_KEY: TEST_KEY } })
    assert.equal(code, 0, stderr)
    assert.equal(readFileSync(join(folder, 'target'), 'utf8'), 'kept')
    assert.match(readFileSync(file, 'utf8'), /^[\w-]+\.[\w-]+\.[\w-]{86}\n$/)
    assert.equal(statSync(file).mode & 0o777, 0o600)
  })
})

async function api(): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const gateway = await startGateway(
    {
      value: { listen: FREE_PORTS, data_dir: mkdtempSync(join(folder, 'data-')) },
      environment: { PREFLIGHT_BOOTSTRAP_KEY: TEST_KEY },
    },
    { output: devNull(), logger: createLogger('silent') },
  )
  return { url: gateway.addresses.api, close: () => gateway.close() }
}
