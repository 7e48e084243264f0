/** A real npm registry (verdaccio) on loopback, and npm itself as its client: packages, a user with a token, the CLI's own words. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { runServer } from 'verdaccio'
import { textAt } from '../json.ts'
import type { TestAuthority } from './certificates.ts'

export interface Registry {
  readonly origin: string
  readonly token: string
}

/** @param authority with one, it speaks https under the name localhost */
export async function startRegistry(t: TestContext, authority: TestAuthority | null = null): Promise<Registry> {
  const storage = mkdtempSync(join(tmpdir(), 'preflight-registry-'))
  const everybody = { access: '$all', publish: '$authenticated', unpublish: '$authenticated' }
  const plain: Server = await runServer({
    storage,
    configPath: join(storage, 'config.yaml'),
    auth: { htpasswd: { file: join(storage, 'htpasswd'), max_users: 10 } },
    uplinks: {},
    packages: { '@*/*': everybody, '**': everybody },
    web: { enable: false },
    log: { type: 'stdout', format: 'json', level: 'fatal' },
    max_body_size: '32mb',
  })
  const server =
    authority === null
      ? plain
      : createHttpsServer(
          await authority.leaf('localhost'),
          (request, response) => void plain.emit('request', request, response),
        )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
    rmSync(storage, { recursive: true, force: true })
  })
  const origin = authority === null ? `http://127.0.0.1:${portOf(server)}` : `https://localhost:${portOf(server)}`
  return { origin, token: await tokenOf(plain) }
}

/** Requested from the registry directly, not through the proxy. */
async function tokenOf(registry: Server): Promise<string> {
  const door = createServer((incoming, outgoing) => void registry.emit('request', incoming, outgoing))
  door.listen(0, '127.0.0.1')
  await once(door, 'listening')
  const answer = await fetch(`http://127.0.0.1:${portOf(door)}/-/user/org.couchdb.user:agent`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'agent', password: 'a password of tests' }),
  })
  const body: unknown = await answer.json()
  door.closeAllConnections()
  door.close()
  return textAt(body, 'token')
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

export interface NpmRun {
  readonly code: number
  /** Both streams. */
  readonly output: string
}

export interface Npm {
  /** Writes a package into a folder of its own and runs npm there. */
  publish(
    name: string,
    version: string,
    files: Readonly<Record<string, string>>,
    ...options: readonly string[]
  ): Promise<NpmRun>
  run(...words: readonly string[]): Promise<NpmRun>
}

/** @param registry address in npm's configuration @param settings further lines of its configuration */
export function npmClient(t: TestContext, registry: string, token: string, settings: readonly string[] = []): Npm {
  const home = mkdtempSync(join(tmpdir(), 'preflight-npm-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const userconfig = join(home, 'npmrc')
  const { host } = new URL(registry)
  writeFileSync(
    userconfig,
    [
      `registry=${registry}/`,
      `//${host}/:_authToken=${token}`,
      'fetch-retries=0',
      'update-notifier=false',
      'audit=false',
      'fund=false',
      `cache=${join(home, 'cache')}`,
      ...settings,
    ].join('\n'),
  )
  const within = (folder: string, words: readonly string[]): Promise<NpmRun> =>
    new Promise((resolve) => {
      const environment = {
        PATH: process.env['PATH'],
        HOME: home,
        npm_config_userconfig: userconfig,
        no_proxy: '',
        NO_PROXY: '',
      }
      execFile('npm', [...words], { cwd: folder, env: environment }, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1
        resolve({ code, output: stdout + stderr })
      })
    })
  let folders = 0
  return {
    async publish(name, version, files, ...options) {
      const folder = join(home, `package-${(folders += 1)}`)
      mkdirSync(folder)
      const all = { ...files, 'package.json': JSON.stringify({ name, version, license: 'MIT' }) }
      for (const [path, text] of Object.entries(all)) {
        mkdirSync(join(folder, path, '..'), { recursive: true })
        writeFileSync(join(folder, path), text)
      }
      return within(folder, ['publish', ...options])
    },
    run(...words) {
      const folder = join(home, `place-${(folders += 1)}`)
      mkdirSync(folder)
      writeFileSync(join(folder, 'package.json'), '{"name":"place","version":"1.0.0"}')
      return within(folder, words)
    },
  }
}
