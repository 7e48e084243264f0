/** The packages as their users get them: packed, installed in an empty folder with only their declared dependencies, and used there. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { build } from 'esbuild'
import { chromium } from 'playwright-core'
import engineManifest from '../../engine/package.json' with { type: 'json' }
import gatewayManifest from '../../gateway/package.json' with { type: 'json' }
import { startTestGateway, TEST_KEY } from '../fakes/gateway.ts'
import { listening } from '../fakes/listening.ts'
import { fetchedTool, hasProgram, runProgram } from '../fakes/programs.ts'
import { at } from '../json.ts'

const ROOT = join(import.meta.dirname, '../..')
const MANIFESTS = [engineManifest, gatewayManifest]
/** Packages that the examples of the docs use, other than ours. */
const EXAMPLE_PACKAGES = ['@modelcontextprotocol/client', '@modelcontextprotocol/server-filesystem']

let folder = ''

function link(name: string): void {
  const path = join(folder, 'node_modules', name)
  if (existsSync(path)) return
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules', name), path)
}

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'preflight-installed-'))
  const npm = (argv: readonly string[]): void => void execFileSync('npm', argv, { cwd: ROOT, stdio: 'pipe' })
  const buildPackages = (...argv: readonly string[]): void =>
    void execFileSync(process.execPath, [join(ROOT, '.ci/build-package.ts'), 'engine', 'gateway', ...argv], {
      stdio: 'pipe',
    })
  buildPackages()
  try {
    npm(['pack', '--workspaces', '--ignore-scripts', '--pack-destination', folder])
  } finally {
    buildPackages('--clean')
  }
  for (const { name, version, dependencies } of MANIFESTS) {
    const target = join(folder, 'node_modules', name)
    mkdirSync(target, { recursive: true })
    execFileSync('tar', ['-xzf', join(folder, `${name}-${version}.tgz`), '-C', target, '--strip-components=1'])
    for (const dependency of Object.keys(dependencies)) if (dependency !== engineManifest.name) link(dependency)
  }
  EXAMPLE_PACKAGES.forEach(link)
  mkdirSync(join(folder, 'node_modules/.bin'))
  // As npm does with a bin.
  chmodSync(join(folder, 'node_modules/preflight-gateway/dist/preflight.js'), 0o755)
  symlinkSync('../preflight-gateway/dist/preflight.js', join(folder, 'node_modules/.bin/preflight'))
  symlinkSync(
    join(ROOT, 'node_modules/.bin/mcp-server-filesystem'),
    join(folder, 'node_modules/.bin/mcp-server-filesystem'),
  )
  writeFileSync(join(folder, 'package.json'), '{ "name": "user", "private": true, "type": "module" }')
})

after(() => rmSync(folder, { recursive: true, force: true }))

test('a tarball holds compiled JavaScript with types, and no sources', () => {
  for (const { name } of MANIFESTS) {
    const files = readdirSync(join(folder, 'node_modules', name), { recursive: true, encoding: 'utf8' })
    for (const file of ['LICENSE', 'README.md', 'dist/index.js', 'dist/index.d.ts'])
      assert.ok(files.includes(file), file)
    assert.deepEqual(
      files.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts')),
      [],
    )
    const relative = files.filter(
      (file) =>
        /\.(?:js|d\.ts)$/.test(file) &&
        /['"`](?:\.\.\/)+engine\//.test(readFileSync(join(folder, 'node_modules', name, file), 'utf8')),
    )
    assert.deepEqual(relative, [], 'the other package is imported by its name')
  }
})

/** The lowest version of a range `>=MAJOR.MINOR.PATCH` as a number that compares; 0 for a range of another form. */
function leastOf(range: string): number {
  const [, major = '0', minor = '0', patch = '0'] = /^>=\s*(\d+)(?:\.(\d+))?(?:\.(\d+))?$/.exec(range) ?? []
  return Number(major) * 1e6 + Number(minor) * 1e3 + Number(patch)
}

test('a package needs no older Node.js than its dependencies do', () => {
  for (const { name, engines, dependencies } of MANIFESTS)
    for (const dependency of Object.keys(dependencies)) {
      const file = join(ROOT, 'node_modules', dependency, 'package.json')
      const needed = at(JSON.parse(readFileSync(file, 'utf8')), 'engines', 'node')
      if (typeof needed !== 'string') continue
      assert.ok(leastOf(engines.node) >= leastOf(needed), `${name} ${engines.node}: ${dependency} needs ${needed}`)
    }
})

test('from CommonJS, every public entry is required', async () => {
  const program = join(folder, 'required.cjs')
  const entries = ['preflight-engine', 'preflight-gateway', 'preflight-gateway/client']
  writeFileSync(program, entries.map((entry) => `console.log(Object.keys(require('${entry}')).length > 0)`).join('\n'))
  const { code, stdout, stderr } = await runProgram(process.execPath, [program])
  assert.deepEqual([code, stdout], [0, 'true\n'.repeat(entries.length)], stderr)
})

interface Example {
  readonly page: string
  readonly language: string
  readonly text: string
}

/** The programs and commands of the pages for users of the packages. */
const PAGES = ['docs/library.md', 'docs/guard.md', 'engine/README.md', 'gateway/README.md']
const examples: readonly Example[] = PAGES.flatMap((page) =>
  [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```(js|sh)\n([\s\S]*?)^```/gm)].map(
    ([, language = '', text = '']) => ({ page, language, text }),
  ),
)

/** @param node the binary that runs the examples */
async function runExamples(node: string, environment: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const outputs: string[] = []
  const path = `${join(folder, 'node_modules/.bin')}:${dirname(node)}:${process.env['PATH'] ?? ''}`
  for (const [index, { language, text, page }] of examples.entries()) {
    const file = join(folder, `example-${index}.${language === 'js' ? 'mjs' : 'sh'}`)
    writeFileSync(file, text)
    const program = language === 'js' ? node : 'sh'
    const { code, stdout, stderr } = await runProgram('sh', ['-c', `cd "$0" && "$@"`, folder, program, file], {
      ...environment,
      PATH: path,
      HOME: folder,
    })
    assert.ok(code === 0 || (language === 'sh' && code === 1), `${page}, example ${index}:\n${stdout}\n${stderr}`)
    outputs.push(stdout)
  }
  return outputs
}

const BEFORE = {
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1' },
  paths: { '/pets': { get: { responses: { 200: { description: 'ok' } } } } },
}

function assertOutputs(outputs: readonly string[]): void {
  const [compared = '', decided = '', verified = '', diffed = '', tools = '', client = '', ...readmes] = outputs
  assert.match(compared, /^breaking \S+ /)
  assert.match(decided, /^BLOCK /)
  assert.match(verified, /^CONTINUE\ntrue /)
  assert.match(diffed, /BREAKING/)
  assert.match(tools, /^BLOCK /)
  assert.match(client, /^false BLOCK$/m)
  assert.match(readmes[0] ?? '', /^breaking \S+ /)
  assert.match(readmes[1] ?? '', /BREAKING/)
  assert.equal(readmes[2], 'UNJUDGED\n')
}

async function testExamples(t: Parameters<typeof startTestGateway>[0], node: string): Promise<void> {
  const gateway = await startTestGateway(t)
  mkdirSync(join(folder, 'contracts'), { recursive: true })
  writeFileSync(
    join(folder, 'contracts/pet.json'),
    JSON.stringify({ type: 'object', properties: { name: { type: 'string' } } }),
  )
  writeFileSync(join(folder, 'before.yaml'), JSON.stringify(BEFORE))
  writeFileSync(join(folder, 'after.yaml'), JSON.stringify({ ...BEFORE, paths: {} }))
  assertOutputs(await runExamples(node, { PREFLIGHT_URL: gateway.addresses.api ?? '', PREFLIGHT_API_KEY: TEST_KEY }))
}

test('every example of the docs runs on the installed packages, under Node.js 24', async (t) => {
  assert.ok(examples.length >= 6, 'the examples are found')
  await testExamples(t, process.execPath)
})

test('every example of the docs runs on the installed packages, under Node.js 22', async (t) => {
  const node = fetchedTool(t, 'node22')
  if (node === null) return
  const { stdout } = await runProgram(node, ['--version'])
  assert.match(stdout, /^v22\./)
  await testExamples(t, node)
})

test('under another Node.js, the server reports which one it needs and where to get it', async (t) => {
  const node = fetchedTool(t, 'node22')
  if (node === null) return
  const command = join(folder, 'node_modules/preflight-gateway/dist/preflight.js')
  const { code, stderr } = await runProgram(node, [command, 'serve'])
  assert.equal(code, 2)
  assert.match(stderr, /^preflight: Node\.js 24 is required to serve, this is v22\./)
  assert.match(stderr, /On Linux \(x64, arm64\) npm installs Node\.js 24/)
})

test('the installed server serves, and keeps no compile cache', async (t) => {
  const temporary = mkdtempSync(join(folder, 'tmp-'))
  const command = join(folder, 'node_modules/preflight-gateway/dist/preflight.js')
  const child = spawn(process.execPath, [command, 'serve', '--data-dir', join(temporary, 'state')], {
    cwd: temporary,
    env: {
      PATH: '/usr/bin:/bin',
      TMPDIR: temporary,
      PREFLIGHT_PROXY_LISTEN: '127.0.0.1:0',
      PREFLIGHT_API_LISTEN: '127.0.0.1:0',
      PREFLIGHT_ADMIN_LISTEN: '127.0.0.1:0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')).map(String)
  assert.match(line ?? '', /"event":"ready"/)
  child.kill('SIGTERM')
  const [code] = await exited
  assert.equal(code, 0)
  assert.deepEqual(readdirSync(temporary), ['state'])
})

const TYPED_PROGRAM = `import { compare, type Artifact, type Comparison, type Result } from 'preflight-engine'
import { preflightClient, verifyReceipt, type VerifyInput } from 'preflight-gateway'
import { preflightClient as same } from 'preflight-gateway/client'
const artifact: Artifact = { id: 'a', type: 'openapi', before: '', after: '{}' }
export const compared: Result<Comparison> = compare(artifact, {}, (text) => text)
export const client: typeof same = preflightClient
export const verify = (input: VerifyInput): boolean | null => verifyReceipt(input).currently_authorized
`

/** Type-checks a program in the folder of the installed packages. */
function compile(text: string, module = 'nodenext'): ReturnType<typeof runProgram> {
  const program = join(folder, 'program.ts')
  writeFileSync(program, text)
  const compiler = join(ROOT, 'node_modules/.bin/tsc')
  const options = [
    '--noEmit',
    '--strict',
    '--module',
    module,
    '--target',
    'es2024',
    '--types',
    '',
    '--skipLibCheck',
    'false',
  ]
  return runProgram('sh', ['-c', `cd "$0" && "$@"`, folder, compiler, ...options, program])
}

test('the types of the packages accept a correct strict TypeScript program, and refuse a wrong one', async () => {
  for (const module of ['nodenext', 'node16', 'preserve']) {
    const sound = await compile(TYPED_PROGRAM, module)
    assert.equal(sound.code, 0, sound.stdout)
  }
  const faulty = await compile(TYPED_PROGRAM.replace("'openapi'", "'wsdl'"))
  assert.match(faulty.stdout, /TS2322.*"wsdl"/)
})

test('the engine compares in a browser, on the page and in a worker', async (t) => {
  if (!hasProgram(t, 'chromium')) return
  const entry = join(folder, 'in-browser.mjs')
  writeFileSync(
    entry,
    `import { compare, expandFindings } from 'preflight-engine'
export const answer = (before, after) => {
  const compared = compare({ id: 'a', type: 'openapi', before, after }, {}, (text) => String(text.length).padStart(64, '0'))
  return compared.ok ? expandFindings(compared.value.groups).map(({ level, rule }) => level + ' ' + rule) : compared.problem
}
if (typeof window === 'undefined') self.onmessage = ({ data }) => self.postMessage(answer(...data))
else window.answer = answer
`,
  )
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'iife',
    absWorkingDir: folder,
    logLevel: 'silent',
  })
  const script = outputFiles[0]?.text ?? ''
  const server = createServer((request, response) => {
    const isScript = request.url === '/engine.js'
    response.setHeader('content-type', `text/${isScript ? 'javascript' : 'html'}; charset=utf-8`)
    response.end(isScript ? script : '<!doctype html><script src="/engine.js"></script>')
  })
  const origin = await listening(t, server)
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  t.after(() => browser.close())
  const page = await browser.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(String(error.stack)))
  await page.goto(origin)
  assert.deepEqual(errors, [])
  const sides = JSON.stringify([JSON.stringify(BEFORE), JSON.stringify({ ...BEFORE, paths: {} })])
  const onPage: unknown = await page.evaluate(`answer(...${sides})`)
  const inWorker: unknown = await page.evaluate(
    `new Promise((resolve) => { const worker = new Worker('/engine.js'); worker.onmessage = ({ data }) => resolve(data); worker.postMessage(${sides}) })`,
  )
  assert.ok(Array.isArray(onPage) && onPage.length > 0 && String(onPage[0]).startsWith('breaking '), String(onPage))
  assert.deepEqual(inWorker, onPage)
})
