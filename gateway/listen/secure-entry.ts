/**
 * TLS of our own listeners: ends it before the listener's server, which gets the plaintext connection. Certificate, key
 * and the authorities of clients are read again when their files change; connections that are open keep what they have.
 */
import { unwatchFile, watchFile } from 'node:fs'
import type { AddressInfo, Server } from 'node:net'
import type { Server as TlsServer, TLSSocket } from 'node:tls'
import { StartupError } from '../errors/startup-error.ts'
import { closed, listenOn, plainEntry, type ListenerEntry, type EntryOf } from '../network/listen.ts'
import { tls } from '../runtime/node-tls.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { readListenerCertificate, type ListenerCertificate } from '../tls/listener-certificate.ts'
import type { ListenerTls, SecureListener, TlsConfig } from '../tls/settings.ts'

interface SecureEntryDeps {
  readonly settings: () => { readonly config: TlsConfig }
  readonly metrics: Metrics
  readonly logger: Logger
}

/** What each listener can speak inside TLS, in the order of preference. */
const PROTOCOLS: Readonly<Record<SecureListener, readonly string[]>> = {
  proxy: ['h2', 'http/1.1'],
  api: ['http/1.1'],
  admin: ['http/1.1'],
  ext_authz: ['h2'],
  hub: ['http/1.1'],
  webhooks: ['http/1.1'],
}

/** Files in a mounted Secret are replaced by symlink: only polling sees that. */
const WATCH_MS = 1000

/** The entry of a listener, as its settings at the start ask for it. */
export function listenerEntry(name: SecureListener, deps: SecureEntryDeps): EntryOf {
  const { listeners, handshake } = deps.settings().config.tls
  const files = listeners[name]
  return files === undefined
    ? plainEntry
    : (server) => new TlsEntry(server, { ...deps, name, files, handshakeTimeout: handshake * 1000 })
}

interface TlsEntryOptions extends Pick<SecureEntryDeps, 'metrics' | 'logger'> {
  readonly name: SecureListener
  readonly files: ListenerTls
  /** Milliseconds. */
  readonly handshakeTimeout: number
}

class TlsEntry implements ListenerEntry {
  readonly #server: Server
  readonly #options: TlsEntryOptions
  readonly #front: TlsServer
  readonly #watched: readonly string[]
  readonly #reload = (): void => this.#readAgain()

  constructor(server: Server, options: TlsEntryOptions) {
    const { name, files, handshakeTimeout } = options
    this.#server = server
    this.#options = options
    const first = readListenerCertificate(files)
    if (!first.ok)
      throw new StartupError(
        `${files[first.problem.file]} (tls.listeners.${name}.${first.problem.file}) cannot be used: ${first.problem.reason}.`,
      )
    this.#front = tls().createServer({
      ...contextOptions(first.value, files),
      ALPNProtocols: [...PROTOCOLS[name]],
      requestCert: first.value.clientCa !== null,
      rejectUnauthorized: true,
      handshakeTimeout,
      noDelay: true,
      // As the listeners without TLS (gateway/listen/request-order.ts).
      allowHalfOpen: true,
    })
    this.#passConnections()
    this.#reportEnd(first.value)
    this.#watched = [files.certificate, files.key, ...(files.client_ca === undefined ? [] : [files.client_ca])]
    for (const path of this.#watched) watchFile(path, { interval: WATCH_MS, persistent: false }, this.#reload)
  }

  listen(host: string, port: number): Promise<AddressInfo> {
    return listenOn(this.#front, host, port)
  }

  get isOpen(): boolean {
    return this.#front.listening
  }

  async close(): Promise<void> {
    for (const path of this.#watched) unwatchFile(path, this.#reload)
    await Promise.all([closed(this.#front), closed(this.#server)])
  }

  #passConnections(): void {
    const { name, metrics, logger } = this.#options
    const count = (result: string): void =>
      metrics.count('preflight_listener_tls_handshakes_total', { listener: name, result })
    this.#front.on('secureConnection', (socket: TLSSocket) => {
      // A second handshake could change the certificate of the client.
      socket.disableRenegotiation()
      count('done')
      this.#server.emit('connection', socket)
    })
    this.#front.on('tlsClientError', (error, socket) => {
      count('failed')
      logger.debug({ event: 'listener.handshake_failed', listener: name, err: error }, 'TLS handshake failed')
      socket.destroy()
    })
    this.#front.on('error', (error) => logger.error({ event: 'listener.failed', err: error }, 'TLS listener failed'))
    // node:http keeps its list of connections, and its time limit for heads, from this event on.
    this.#front.on('listening', () => this.#server.emit('listening'))
  }

  /** Files that do not fit together are met while they are replaced: the certificate in force stays until they fit. */
  #readAgain(): void {
    const { name, files, logger } = this.#options
    const read = readListenerCertificate(files)
    if (!read.ok) {
      const { file, reason } = read.problem
      logger.error(
        { event: 'listener.certificate_unusable', listener: name, file: files[file], reason },
        'the changed certificate cannot be used; the one before it stays in force',
      )
      return
    }
    this.#front.setSecureContext(contextOptions(read.value, files))
    this.#reportEnd(read.value)
    logger.info({ event: 'listener.certificate_reloaded', listener: name }, 'listener certificate reloaded')
  }

  #reportEnd({ notAfter }: ListenerCertificate): void {
    const { name, metrics } = this.#options
    metrics.set('preflight_listener_certificate_end_seconds', { listener: name }, Math.floor(notAfter / 1000))
  }
}

function contextOptions({ cert, key, clientCa }: ListenerCertificate, { min_version: minVersion }: ListenerTls) {
  return { cert, key, minVersion, ...(clientCa !== null && { ca: clientCa }) } as const
}
