/**
 * Connections to the database: a bounded pool that follows the primary among several hosts. A connection that failed in any way
 * but a refused statement is dropped. Nothing is kept in a session, so that a pooler in transaction mode can stand between.
 */
import { isIP } from 'node:net'
import type { PeerCertificate } from 'node:tls'
import { Client, Pool, types, type ClientBase, type ClientConfig, type CustomTypesConfig, type PoolClient } from 'pg'
import { errorCode } from '../../errors/startup-error.ts'
import { tls } from '../../runtime/node-tls.ts'
import type { KnownHeads } from './known-heads.ts'
import { tlsFilesOf, type PostgresAddress, type PostgresHost } from './address.ts'

export interface ConnectionLimits {
  /** Maximum number of connections of this process. */
  readonly pool: number
  /** Milliseconds. */
  readonly connectTimeout: number
  readonly statementTimeout: number
  readonly lockTimeout: number
  /** A pooler refuses settings in the start of a session, and would carry them to other users. */
  readonly isPooled: boolean
  /** What every connection must contain; absent: nothing was seen. */
  readonly heads?: KnownHeads
}

export type PostgresConnection = ClientBase

export interface Connections {
  /** Runs on one connection. Rejects with the error of the work, or with that of the connection. */
  use<Result>(work: (connection: PostgresConnection) => Promise<Result>): Promise<Result>
  /** A connection of its own, outside the pool; the caller ends it. */
  dedicated(): Promise<Client>
  close(): Promise<void>
}

/** SQLSTATE of a statement that wrote on a host that is not the primary any more. */
const READ_ONLY = '25006'

const TYPES: CustomTypesConfig = {
  getTypeParser: (id: Parameters<typeof types.getTypeParser>[0], format?: 'text' | 'binary') =>
    id === types.builtins.INT8 || id === types.builtins.NUMERIC ? Number : types.getTypeParser(id, format),
}

export function openConnections(address: PostgresAddress, limits: ConnectionLimits): Connections {
  return new HostConnections(address, limits)
}

class HostConnections implements Connections {
  readonly #address: PostgresAddress
  readonly #limits: ConnectionLimits
  readonly #tlsFiles: ReturnType<typeof tlsFilesOf>
  readonly #pool: Pool
  /** Connections of the pool that were found to be to the primary, with the generation of the known heads then. */
  readonly #verified = new WeakMap<PostgresConnection, number>()
  /** Counts the hosts that were tried: the one in use follows from it. */
  #current = 0

  constructor(address: PostgresAddress, limits: ConnectionLimits) {
    this.#address = address
    this.#limits = limits
    this.#tlsFiles = tlsFilesOf(address)
    const configNow = (): ClientConfig => this.#configNow()
    class HostClient extends Client {
      constructor() {
        super(configNow())
      }
    }
    this.#pool = new Pool({
      max: limits.pool,
      connectionTimeoutMillis: limits.connectTimeout,
      idleTimeoutMillis: 60_000,
      allowExitOnIdle: true,
      Client: HostClient,
    })
    // An idle connection that breaks is dropped; the next use opens another one.
    this.#pool.on('error', () => {})
    // One that breaks in use fails its statement; without a listener the event ends the process.
    this.#pool.on('connect', (client) => void client.on('error', () => {}))
  }

  async use<Result>(work: (connection: PostgresConnection) => Promise<Result>): Promise<Result> {
    const connection = await this.#onEachHost(() => this.#connectToPrimary())
    let isBroken = true
    try {
      const result = await work(connection)
      isBroken = false
      return result
    } catch (error) {
      isBroken = !isRefusedStatement(error)
      if (errorCode(error) === READ_ONLY) this.#current += 1
      throw error
    } finally {
      connection.release(isBroken)
    }
  }

  dedicated(): Promise<Client> {
    this.#limits.heads?.checkAgain()
    return this.#onEachHost(async () => {
      const client = new Client({ ...this.#configNow(), query_timeout: this.#limits.connectTimeout })
      // Without a listener an error on an idle connection ends the process.
      client.on('error', () => {})
      try {
        await client.connect()
        await this.#requireCurrent(client)
        return client
      } catch (error) {
        await client.end().catch(() => {})
        throw error
      }
    })
  }

  close(): Promise<void> {
    return this.#pool.end()
  }

  async #connectToPrimary(): Promise<PoolClient> {
    const connection = await this.#pool.connect()
    const generation = this.#limits.heads?.generation ?? 0
    if (this.#verified.get(connection) === generation) return connection
    try {
      await this.#requireCurrent(connection)
      this.#verified.set(connection, generation)
      return connection
    } catch (error) {
      connection.release(true)
      throw error
    }
  }

  async #requireCurrent(connection: PostgresConnection): Promise<void> {
    await requirePrimary(connection, this.#limits.isPooled)
    await this.#limits.heads?.require(connection)
  }

  /** Tries each host once, from the one that answered last. */
  async #onEachHost<Result>(attempt: () => Promise<Result>): Promise<Result> {
    let first: unknown
    for (let tried = 0; tried < this.#address.hosts.length; tried += 1) {
      const at = this.#current
      try {
        return await attempt()
      } catch (error) {
        first ??= error
        // Another caller may have moved on already.
        if (this.#current === at) this.#current += 1
      }
    }
    throw first
  }

  #configNow(): ClientConfig {
    const { hosts } = this.#address
    return clientConfig(this.#address, hosts[this.#current % hosts.length] ?? hosts[0], this.#limits, this.#tlsFiles)
  }
}

function clientConfig(
  address: PostgresAddress,
  { host, port }: PostgresHost,
  limits: ConnectionLimits,
  tlsFiles: ReturnType<typeof tlsFilesOf>,
): ClientConfig {
  return {
    host,
    port,
    ...(address.user !== null && { user: address.user }),
    ...(address.password !== null && { password: address.password }),
    ...(address.database !== null && { database: address.database }),
    ...(address.options !== null && { options: address.options }),
    ssl: address.sslMode === 'disable' ? false : { ...tlsFiles, ...verificationOf(address, host) },
    connectionTimeoutMillis: limits.connectTimeout,
    // The client's own limit comes later than the server's: it is for a network that swallows packets.
    query_timeout: limits.statementTimeout + limits.connectTimeout,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: TYPES,
    ...(!limits.isPooled && {
      application_name: 'preflight',
      statement_timeout: limits.statementTimeout,
      lock_timeout: limits.lockTimeout,
      idle_in_transaction_session_timeout: limits.statementTimeout + limits.connectTimeout,
    }),
  }
}

interface SessionSettings {
  readonly read_only: string
  readonly synchronous_commit: string
}

const SETTINGS = `SELECT current_setting('transaction_read_only') AS read_only,
  current_setting('synchronous_commit') AS synchronous_commit`

/**
 * The host accepts writes, and a commit that it answers is durable. The setting of the database, or of the account, may be other;
 * behind a pooler the session is not ours to change.
 */
async function requirePrimary(client: PostgresConnection, isPooled: boolean): Promise<void> {
  const { rows } = await client.query<SessionSettings>(SETTINGS)
  if (rows[0]?.read_only !== 'off') throw Object.assign(new Error('the host is read-only'), { code: READ_ONLY })
  if (rows[0].synchronous_commit !== 'off') return
  if (isPooled) throw new LostCommitsError()
  await client.query('SET synchronous_commit = on')
}

/** A crash of the database would lose decisions whose calls were forwarded. */
export class LostCommitsError extends Error {
  constructor() {
    super('synchronous_commit is off: a crash would lose commits that were answered')
    this.name = 'LostCommitsError'
  }
}

/** How libpq's modes verify: `require` encrypts only, `verify-ca` checks who signed, `verify-full` also the name. */
function verificationOf({ sslMode }: PostgresAddress, host: string) {
  if (sslMode === 'require') return { rejectUnauthorized: false }
  if (sslMode === 'verify-ca') return { rejectUnauthorized: true, checkServerIdentity: () => undefined }
  const check = (_: string, certificate: PeerCertificate) => tls().checkServerIdentity(host, certificate)
  return { rejectUnauthorized: true, checkServerIdentity: check, ...(isIP(host) === 0 && { servername: host }) }
}

/** The server answered: the connection is in order. Class 08 and 57P are ends of the connection, 25006 is not the primary. */
export function isRefusedStatement(error: unknown): boolean {
  const code = errorCode(error)
  return code !== null && /^[0-9A-Z]{5}$/.test(code) && !/^(?:08|57P|25006)/.test(code)
}

/** Class 23 of SQLSTATE: the row violates a constraint. */
export function isConstraint(error: unknown): boolean {
  return errorCode(error)?.startsWith('23') === true
}

/** Deadlock, serialization failure or a lock that took too long: all was rolled back, and another run may succeed. */
export function isTransient(error: unknown): boolean {
  return ['40001', '40P01', '25006'].includes(errorCode(error) ?? '')
}
