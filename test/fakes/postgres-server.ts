/**
 * A real PostgreSQL server on a free port of the loopback interface, with TLS on, in a folder of its own. `postgres` refuses to
 * run as root, so it runs as the user `postgres`, or nobody, where the tests run as root. Absent: the test is skipped.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'

export interface PostgresServer {
  readonly port: number
  readonly folder: string
  /** The CA of its certificate, which is for localhost and 127.0.0.1. */
  readonly rootCertificate: string
  /** A fresh database; the URL of its owner. @param query of the URL; TLS with full verification by default */
  database(query?: string): Promise<string>
  /** Runs statements as the superuser. */
  sql(text: string, database?: string): Promise<readonly Record<string, unknown>[]>
  /** Ends it as a power cut does. */
  kill(): Promise<void>
  /** Starts it again on the same port and files. */
  start(): Promise<void>
  /** A replica that streams from it, on a port of its own; the same accounts and databases. */
  standby(): Promise<PostgresStandby>
  stop(): Promise<void>
}

export interface PostgresStandby extends Pick<PostgresServer, 'port' | 'sql' | 'kill' | 'stop'> {
  /** From now on it accepts writes. */
  promote(): Promise<void>
}

export interface PostgresFolders {
  /** Holds the data files, e.g. a small volume; the default is the folder of the server. */
  readonly files?: string
  /** Holds the write-ahead log; by default it is with the data files. */
  readonly log?: string
}

const PASSWORD = 'p@ss/word'

/** Folder of the server's programs; null: they are not installed. */
export function postgresPrograms(): string | null {
  const folder = '/usr/lib/postgresql'
  const versions = existsSync(folder) ? readdirSync(folder).toSorted((a, b) => Number(b) - Number(a)) : []
  const found = versions.map((version) => join(folder, version, 'bin')).find((path) => existsSync(join(path, 'initdb')))
  if (found !== undefined) return found
  return spawnSync('initdb', ['--version']).status === 0 ? '' : null
}

/** Why there is no server to test with; false: there is one. In CI it has to be there. */
export function postgresMissing(): string | false {
  if (postgresPrograms() !== null) return false
  assert.notEqual(process.env['CI'], 'true', 'postgres is missing; .ci/run installs it')
  return 'postgres is not installed'
}

/** The user and group that may run the server. */
function account(): { readonly uid: number; readonly gid: number } | null {
  if (process.getuid?.() !== 0) return null
  for (const user of ['postgres', 'nobody'])
    if (spawnSync('id', ['-u', user]).status === 0)
      return {
        uid: Number(execFileSync('id', ['-u', user], { encoding: 'utf8' })),
        gid: Number(execFileSync('id', ['-g', user], { encoding: 'utf8' })),
      }
  throw new Error('there is no user to run postgres as')
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  await new Promise((resolve) => server.close(resolve))
  return address.port
}

export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
  folders: PostgresFolders = {},
): Promise<PostgresServer> {
  const programs = postgresPrograms()
  assert.ok(programs !== null)
  const owner = account()
  const folder = mkdtempSync(join(tmpdir(), 'preflight-pg-'))
  const files = join(folders.files ?? folder, 'files')
  for (const made of [folder, ...Object.values(folders)]) {
    if (owner !== null) chownSync(made, owner.uid, owner.gid)
    chmodSync(made, 0o755)
  }
  // Certificates of whoever runs the tests are not for this server.
  const env = { ...process.env, HOME: folder }
  const options = { cwd: folder, stdio: 'pipe', env, ...owner } as const
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, PASSWORD)
  if (owner !== null) chownSync(passwordFile, owner.uid, owner.gid)
  const initdb = ['-D', files, '-U', 'root_of_tests', '-A', 'scram-sha-256', '--pwfile', passwordFile, '--no-sync']
  const logFolder = folders.log === undefined ? [] : ['--waldir', join(folders.log, 'log')]
  execFileSync(join(programs, 'initdb'), [...initdb, ...logFolder, '-E', 'UTF8', '--locale', 'C.UTF-8'], options)
  const rootCertificate = makeCertificates(folder, owner)
  const port = await freePort()
  const given = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: folder,
    ssl: 'on',
    ssl_cert_file: join(folder, 'server.crt'),
    ssl_key_file: join(folder, 'server.key'),
    max_connections: '100',
    ...settings,
  }
  writeFileSync(
    join(files, 'postgresql.auto.conf'),
    Object.entries(given)
      .map(([name, value]) => `${name} = '${value}'\n`)
      .join(''),
  )
  writeFileSync(
    join(files, 'pg_hba.conf'),
    'hostssl all all 127.0.0.1/32 scram-sha-256\nhost all plain 127.0.0.1/32 scram-sha-256\nhostssl replication all 127.0.0.1/32 scram-sha-256\n',
  )
  const server = new ServerProcess([join(programs, 'postgres'), '-D', files], options, port)
  await server.start()
  let databases = 0
  const sql: PostgresServer['sql'] = (text, database) => server.sql(text, database)
  return {
    port,
    folder,
    rootCertificate,
    sql,
    start: () => server.start(),
    async database(query = `sslmode=verify-full&sslrootcert=${rootCertificate}`) {
      const name = `preflight_${(databases += 1)}`
      await sql(`CREATE ROLE ${name} LOGIN PASSWORD '${PASSWORD}'`)
      await sql(`CREATE DATABASE ${name} OWNER ${name}`)
      return `postgres://${name}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${name}?${query}`
    },
    kill: () => server.kill(),
    async standby() {
      const copy = join(folder, 'standby')
      const from = ['-h', '127.0.0.1', '-p', String(port), '-U', 'root_of_tests']
      const account = { PGPASSWORD: PASSWORD, PGSSLMODE: 'require' }
      execFileSync(
        join(programs, 'pg_basebackup'),
        [...from, '-D', copy, '--write-recovery-conf', '--wal-method', 'stream', '--checkpoint', 'fast', '--no-sync'],
        { ...options, env: { ...env, ...account } },
      )
      const ownPort = await freePort()
      const replica = new ServerProcess(
        [join(programs, 'postgres'), '-D', copy, '-p', String(ownPort)],
        options,
        ownPort,
      )
      await replica.start()
      return {
        port: ownPort,
        sql: (text, database) => replica.sql(text, database),
        promote: async () => void (await replica.sql('SELECT pg_promote(true, 60)')),
        kill: () => replica.kill(),
        stop: () => replica.end('SIGINT'),
      }
    },
    async stop() {
      await server.end('SIGINT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** One server on its files and port, whether it runs or not. */
class ServerProcess {
  readonly #argv: readonly string[]
  readonly #options: SpawnOptions
  readonly #port: number
  #running: ChildProcess | null = null

  constructor(argv: readonly string[], options: SpawnOptions, port: number) {
    this.#argv = argv
    this.#options = options
    this.#port = port
  }

  async sql(text: string, database = 'postgres'): Promise<readonly Record<string, unknown>[]> {
    const client = new Client({
      host: '127.0.0.1',
      port: this.#port,
      user: 'root_of_tests',
      password: PASSWORD,
      database,
      ssl: { rejectUnauthorized: false },
    })
    client.on('error', () => {})
    await client.connect()
    try {
      const result: unknown = await client.query(text)
      return Array.isArray(result) ? [] : rowsOf(result)
    } finally {
      await client.end()
    }
  }

  async start(): Promise<void> {
    this.#running = this.#run()
    for (let attempt = 0; ; attempt += 1) {
      try {
        await this.sql('SELECT 1')
        return
      } catch (error) {
        if (attempt > 300) throw error
        // Children of a server that was killed hold its memory for a moment, and a new one does not start beside them.
        if (this.#running.exitCode !== null) this.#running = this.#run()
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#running
    this.#running = null
    if (child === null || child.exitCode !== null) return
    const exited = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await exited
  }

  async kill(): Promise<void> {
    // Its children end by themselves once the postmaster is gone; the memory that they share goes with them.
    await this.end('SIGKILL')
    await new Promise((resolve) => setTimeout(resolve, 300))
  }

  #run(): ChildProcess {
    const [program = '', ...rest] = this.#argv
    return spawn(program, rest, { ...this.#options, stdio: 'ignore' })
  }
}

function rowsOf(result: unknown): readonly Record<string, unknown>[] {
  const rows: readonly Record<string, unknown>[] = Object(result)['rows'] ?? []
  return rows
}

/** A CA and a certificate for localhost that it signed; the path of the CA's. */
function makeCertificates(folder: string, owner: ReturnType<typeof account>): string {
  mkdirSync(folder, { recursive: true })
  const ssl = (...argv: readonly string[]) => execFileSync('openssl', [...argv], { cwd: folder, stdio: 'pipe' })
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'] as const
  ssl('req', '-x509', ...curve, '-keyout', 'ca.key', '-out', 'ca.crt', '-days', '2', '-subj', '/CN=CA of tests')
  ssl('req', ...curve, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=localhost')
  writeFileSync(join(folder, 'names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1')
  const signing = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'names'] as const
  ssl('x509', '-req', '-in', 'server.csr', '-out', 'server.crt', ...signing)
  chmodSync(join(folder, 'server.key'), 0o600)
  if (owner !== null)
    for (const file of ['server.key', 'server.crt']) chownSync(join(folder, file), owner.uid, owner.gid)
  return join(folder, 'ca.crt')
}
