/**
 * `store.url` of PostgreSQL, read as libpq reads a connection URI: several hosts, percent-encoding, TLS parameters. A parameter
 * that is not known is a mistake: a TLS setting must not be ignored because of a typing error.
 */
import { isIP } from 'node:net'
import { readRegularFile } from '../../runtime/regular-file.ts'

const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const
type SslMode = (typeof SSL_MODES)[number]

export interface PostgresHost {
  /** A name, an address, or the directory of a Unix socket. */
  readonly host: string
  readonly port: number
}

export interface PostgresAddress {
  /** In the order in which they are tried. */
  readonly hosts: readonly [PostgresHost, ...PostgresHost[]]
  readonly user: string | null
  readonly password: string | null
  readonly database: string | null
  readonly sslMode: SslMode
  /** Files. */
  readonly rootCertificate: string | null
  readonly certificate: string | null
  readonly key: string | null
  /** `SET` for each session, e.g. `-c search_path=preflight`. */
  readonly options: string | null
}

type Reading =
  | { readonly ok: true; readonly address: PostgresAddress }
  /** Part of a sentence. It never contains the URL, which may hold a password. */
  | { readonly ok: false; readonly problem: string; readonly fix: string }

const FORM = /^postgres(?:ql)?:\/\/(?:([^@/?]*)@)?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/
const HOST = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]]*))(?::(\d{1,5}))?$/
const DEFAULT_PORT = 5432
const PARAMETERS = [
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'options',
  'target_session_attrs',
  'host',
  'port',
] as const

export function isPostgresUrl(url: string): boolean {
  return /^postgres(?:ql)?:/.test(url)
}

export function readPostgresUrl(url: string): Reading {
  const [, account = '', authority = '', database = '', query = ''] = FORM.exec(url) ?? []
  if (!FORM.test(url))
    return { ok: false, problem: 'it is not a connection URI', fix: 'write postgres://USER@HOST:5432/DATABASE' }
  try {
    const parameters = new URLSearchParams(query.replaceAll('+', '%2B'))
    const unknown = [...parameters.keys()].find((name) => !PARAMETERS.some((known) => known === name))
    if (unknown !== undefined)
      return { ok: false, problem: `it has the unknown parameter ${unknown}`, fix: `known: ${PARAMETERS.join(', ')}` }
    const hosts = hostsOf(authority || (parameters.get('host') ?? ''), parameters.get('port'))
    if (hosts === null) return { ok: false, problem: 'a host or a port is not valid', fix: 'write HOST:PORT,HOST:PORT' }
    const attributes = parameters.get('target_session_attrs') ?? 'read-write'
    if (!['read-write', 'primary', 'any'].includes(attributes))
      return {
        ok: false,
        problem: `target_session_attrs=${attributes} cannot be written to`,
        fix: 'use target_session_attrs=read-write, which is the default',
      }
    const sslMode = sslModeOf(parameters.get('sslmode'), hosts)
    if (sslMode === null)
      return { ok: false, problem: 'its sslmode is not known', fix: `use one of ${SSL_MODES.join(', ')}` }
    const [user = '', ...password] = account.split(':')
    const address = {
      hosts,
      user: decodeURIComponent(user) || null,
      password: password.length === 0 ? null : decodeURIComponent(password.join(':')),
      database: decodeURIComponent(database) || null,
      sslMode,
      rootCertificate: parameters.get('sslrootcert'),
      certificate: parameters.get('sslcert'),
      key: parameters.get('sslkey'),
      options: parameters.get('options'),
    }
    return { ok: true, address }
  } catch {
    return { ok: false, problem: 'its percent-encoding is broken', fix: 'write % in a password as %25' }
  }
}

function hostsOf(list: string, port: string | null): PostgresAddress['hosts'] | null {
  const [first, ...rest] = list.split(',').map((text) => postgresHost(decodeURIComponent(text), port))
  const others = rest.filter((host) => host !== null)
  return first === null || first === undefined || others.length < rest.length ? null : [first, ...others]
}

function postgresHost(text: string, port: string | null): PostgresHost | null {
  const fallback = Number(port ?? DEFAULT_PORT)
  if (text.startsWith('/')) return { host: text, port: fallback }
  const [, six, name = '', own] = HOST.exec(text) ?? []
  const host = six ?? name
  const number = own === undefined ? fallback : Number(own)
  return host === '' || !(number >= 1 && number <= 65_535) ? null : { host, port: number }
}

/** Without a mode: TLS with full verification, except on this machine. */
function sslModeOf(mode: string | null, hosts: readonly PostgresHost[]): SslMode | null {
  if (mode !== null) return SSL_MODES.find((known) => known === mode) ?? null
  return hosts.every(({ host }) => isLocal(host)) ? 'disable' : 'verify-full'
}

function isLocal(host: string): boolean {
  return host.startsWith('/') || host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** For people: hosts and database, never the account. */
export function addressWords({ hosts, database }: PostgresAddress): string {
  const list = hosts.map(({ host, port }) => `${isIP(host) === 6 ? `[${host}]` : host}:${port}`).join(',')
  return `postgres ${list}/${database ?? ''}`
}

interface TlsFiles {
  readonly ca?: Buffer
  readonly cert?: Buffer
  readonly key?: Buffer
}

/** Throws the error of the file system. */
export function tlsFilesOf({ rootCertificate, certificate, key }: PostgresAddress): TlsFiles {
  return {
    ...(rootCertificate !== null && { ca: readRegularFile(rootCertificate) }),
    ...(certificate !== null && { cert: readRegularFile(certificate) }),
    ...(key !== null && { key: readRegularFile(key) }),
  }
}
