/** Why a database cannot be opened, and the remedy: by the code of the fault, since each has another remedy. */
import { errorCode, messageOf } from '../../errors/startup-error.ts'
import { LostCommitsError } from './connections.ts'
import { NewerSchemaError } from './migrate.ts'

/** One row for each group of codes (SQLSTATE, Node.js, OpenSSL); the first whose pattern fits applies. */
const REMEDIES: readonly { readonly code: RegExp; readonly remedy: string }[] = [
  {
    code: /^(?:ENOTFOUND|EAI_AGAIN)$/,
    remedy: 'No such host: correct the host in store.url, or the name resolution of this machine.',
  },
  {
    code: /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|ECONNRESET)$/,
    remedy:
      'Nobody answers there: start the database, correct host and port in store.url, or open the network path to it.',
  },
  {
    code: /^(?:ENOENT|EACCES)$/,
    remedy:
      'The path is that of the socket of the database, or of sslrootcert, sslcert or sslkey: correct it in store.url, or let this user read it.',
  },
  {
    code: /^(?:28P01|28000)$/,
    remedy:
      'The database refused the account: correct user and password in store.url (PREFLIGHT_STORE_URL), or allow this host and user in pg_hba.conf.',
  },
  {
    code: /^3D000$/,
    remedy: 'There is no such database: create it with createdb, or correct its name in store.url.',
  },
  {
    code: /^42501$/,
    remedy:
      'The account lacks a right: it must own the tables, or may create them in the first schema of its search_path. ' +
      'GRANT USAGE, CREATE ON SCHEMA public TO the user, then start again.',
  },
  {
    code: /^3F000$/,
    remedy: 'The account has no schema to create tables in: set its search_path, or grant it CREATE on schema public.',
  },
  {
    code: /^25006$/,
    remedy:
      'No host of store.url accepts writes: all are replicas. Name the primary too; with several hosts the one that accepts writes is used.',
  },
  { code: /^53300$/, remedy: 'The database has no free connection: raise max_connections, or lower store.pool.' },
  {
    code: /^(?:ERR_TLS_.*|.*CERT.*|UNABLE_TO_.*|HOSTNAME_MISMATCH)$/,
    remedy:
      'Its certificate does not verify: give the CA with sslrootcert=FILE in store.url, and a host name that is in the certificate.',
  },
  {
    code: /^57P03$/,
    remedy: 'The database is starting or recovering: start the gateway again when it accepts connections.',
  },
  {
    code: /^55P03$/,
    remedy: 'Another session holds a lock on the tables: end it, or wait until it has finished.',
  },
]

const NO_TLS =
  'The server has no TLS: turn on ssl in postgresql.conf. On a network that nobody else can read, store.url may have sslmode=disable.'
const TLS_REQUIRED = 'The server takes TLS connections only: add sslmode=verify-full to store.url.'

/** @returns a message for the operator: fault, cause and fix. It never contains the URL, which may hold a password. */
export function postgresOpeningFault(description: string, error: unknown): string {
  return `The store ${description} cannot be opened: ${messageOf(error) || String(errorCode(error))}. ${remedyOf(error)}`.trim()
}

function remedyOf(error: unknown): string {
  if (error instanceof NewerSchemaError)
    return 'A newer version of the gateway has migrated it: run that version, or restore the backup from before.'
  if (error instanceof LostCommitsError)
    return 'Set it for the account that the pooler uses: ALTER ROLE the user SET synchronous_commit = on. Then reconnect the pooler.'
  const message = messageOf(error)
  if (/does not support SSL/.test(message)) return NO_TLS
  if (/no pg_hba.conf entry.*(?:no encryption|SSL off)/.test(message)) return TLS_REQUIRED
  if (/timeout/i.test(message))
    return 'It did not answer in time: check the network path, or raise store.connect_timeout or store.pool.'
  // Several addresses of one name fail together.
  const first = error instanceof AggregateError ? errorCode(error.errors[0]) : null
  const code = errorCode(error) ?? first
  return REMEDIES.find((row) => code !== null && row.code.test(code))?.remedy ?? ''
}
