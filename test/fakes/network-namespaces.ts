/**
 * Network namespaces of a test, joined by links. Programs run in one of them as a user of the test's choice. They are removed
 * with the test.
 */
import { execFile, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { until } from './until.ts'

export interface Namespace {
  readonly name: string
  /** Exit code and output of a program that ends. */
  run(argv: readonly string[], options?: InsideOptions): Promise<Inside>
  /** A program that runs until the test ends. Resolves when it has printed a line that matches. */
  start(argv: readonly string[], ready: RegExp, options?: InsideOptions): Promise<Running>
}

export interface InsideOptions {
  readonly uid?: number
  readonly env?: Readonly<Record<string, string>>
}

export interface Inside {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly lines: readonly string[]
  /** Resolves when it has ended. */
  stop(signal?: NodeJS.Signals): Promise<void>
}

const FOLDER = '/etc/netns'

/** Null: this user may not make network namespaces, and the test is skipped. */
export function namespaces(t: TestContext, names: readonly string[]): readonly Namespace[] | null {
  const made: string[] = []
  t.after(() => {
    for (const name of made) {
      ip('netns', 'del', name)
      rmSync(join(FOLDER, name), { recursive: true, force: true })
    }
  })
  for (const [index, label] of names.entries()) {
    const name = `pf${process.pid % 100_000}-${index}-${label}`
    if (!ip('netns', 'add', name)) {
      t.skip('this user may not make a network namespace')
      return null
    }
    made.push(name)
    if (!ip('-n', name, 'link', 'set', 'lo', 'up')) throw new Error(`${name} has no loopback`)
  }
  return made.map(namespaceNamed)
}

/** What a user meets who connects or sends: `passed` also for a packet that nobody answers. */
export async function attempt(
  from: Namespace,
  uid: number,
  protocol: 'tcp' | 'udp',
  host: string,
  port: number,
): Promise<string> {
  const { code } = await from.run(['timeout', '3', 'bash', '-c', `echo around > /dev/${protocol}/${host}/${port}`], {
    uid,
  })
  return code === 0 || code === 124 ? 'passed' : 'rejected'
}

/** Joins two namespaces by a link; each end gets its addresses. Names of both ends. */
export function link(
  a: Namespace,
  aAddresses: readonly string[],
  b: Namespace,
  bAddresses: readonly string[],
): readonly [near: string, far: string] {
  links += 1
  const [near, far] = [`pf${process.pid % 100_000}n${links}`, `pf${process.pid % 100_000}f${links}`]
  must('link', 'add', near, 'netns', a.name, 'type', 'veth', 'peer', 'name', far, 'netns', b.name)
  for (const [one, device, addresses] of [
    [a, near, aAddresses],
    [b, far, bAddresses],
  ] as const) {
    for (const address of addresses)
      must('-n', one.name, 'address', 'add', address, 'dev', device, ...(address.includes(':') ? ['nodad'] : []))
    must('-n', one.name, 'link', 'set', device, 'up')
  }
  return [near, far]
}

let links = 0

export function route(from: Namespace, ...argv: readonly string[]): void {
  must('-n', from.name, ...argv)
}

/** Names that programs in the namespace resolve, and its resolver. */
export function resolve(namespace: Namespace, hosts: string, resolver: string): void {
  mkdirSync(join(FOLDER, namespace.name), { recursive: true })
  writeFileSync(join(FOLDER, namespace.name, 'hosts'), hosts)
  writeFileSync(join(FOLDER, namespace.name, 'resolv.conf'), `nameserver ${resolver}\n`)
}

function environmentOf({ env = {} }: InsideOptions): Readonly<Record<string, string>> {
  return { PATH: process.env['PATH'] ?? '', HOME: '/tmp', ...env }
}

function namespaceNamed(name: string): Namespace {
  const inside = (argv: readonly string[], { uid }: InsideOptions): readonly string[] => [
    'netns',
    'exec',
    name,
    ...(uid === undefined ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--inh-caps=-all']),
    ...argv,
  ]
  return {
    name,
    run: (argv, options = {}) =>
      new Promise((done) => {
        const settings = { env: environmentOf(options), timeout: 60_000 }
        execFile('ip', [...inside(argv, options)], settings, (error, stdout, stderr) =>
          done({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
        )
      }),
    async start(argv, ready, options = {}) {
      const child = spawn('ip', [...inside(argv, options)], {
        env: environmentOf(options),
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const lines: string[] = []
      const collect = (piece: Buffer): void => void lines.push(...piece.toString('utf8').split('\n').filter(Boolean))
      child.stdout.on('data', collect)
      child.stderr.on('data', collect)
      const ended = new Promise<void>((done) => child.once('close', () => done()))
      let isOver = false
      void ended.then(() => (isOver = true))
      await until(() => isOver || lines.some((line) => ready.test(line)), `${argv.join(' ')} is ready`, 60_000)
      if (isOver) throw new Error(`${argv.join(' ')} ended:\n${lines.join('\n')}`)
      return {
        lines,
        async stop(signal = 'SIGTERM') {
          child.kill(signal)
          await ended
        },
      }
    },
  }
}

function ip(...argv: readonly string[]): boolean {
  return spawnSync('ip', argv, { stdio: 'ignore' }).status === 0
}

function must(...argv: readonly string[]): void {
  const { status, stderr } = spawnSync('ip', argv, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`ip ${argv.join(' ')}: ${stderr}`)
}
