/**
 * TLS of our own listeners: ends it before the listener's server, which gets the plaintext connection. Certificate, key
 * and the authorities of clients are read again when their files change; connections that are open keep what they have.
 */
import { unwatchFile, watchFile } from 'node:fs'
import type { Server } from 'node:net'
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
export function entryOf(name: SecureListener, deps: SecureEntryDeps): EntryOf {
  const { listeners, handshake } = deps.settings().config.tls
  const files = listeners[name]
  return files === undefined ? plainEntry : (server) => secureEntry(server, name, files, handshake * 1000, deps)
}

function secureEntry(
  server: Server,
  name: SecureListener,
  files: ListenerTls,
  handshakeTimeout: number,
  { metrics, logger }: SecureEntryDeps,
): ListenerEntry {
  const first = readListenerCertificate(files)
  if (!first.ok)
    throw new StartupError(
      `${files[first.problem.file]} (tls.listeners.${name}.${first.problem.file}) cannot be used: ${first.problem.reason}.`,
    )
  const front = tls().createServer({
    ...contextOptions(first.value, files),
    ALPNProtocols: [...PROTOCOLS[name]],
    requestCert: first.value.clientCa !== null,
    rejectUnauthorized: true,
    handshakeTimeout,
    noDelay: true,
  })
  const count = (result: string): void =>
    metrics.count('preflight_listener_tls_handshakes_total', { listener: name, result })
  front.on('secureConnection', (socket: TLSSocket) => {
    // A second handshake could change the certificate of the client.
    socket.disableRenegotiation()
    count('done')
    server.emit('connection', socket)
  })
  front.on('tlsClientError', (error, socket) => {
    count('failed')
    logger.debug({ event: 'listener.handshake_failed', listener: name, err: error }, 'TLS handshake failed')
    socket.destroy()
  })
  front.on('error', (error) => logger.error({ event: 'listener.failed', err: error }, 'TLS listener failed'))
  // node:http keeps its list of connections, and its time limit for heads, from this event on.
  front.on('listening', () => server.emit('listening'))
  const report = (certificate: ListenerCertificate): void =>
    metrics.set(
      'preflight_listener_certificate_end_seconds',
      { listener: name },
      Math.floor(certificate.notAfter / 1000),
    )
  report(first.value)
  const watch = watchCertificate(front, name, files, logger, report)
  return {
    listen: (host, port) => listenOn(front, host, port),
    get isOpen() {
      return front.listening
    },
    async close() {
      watch.stop()
      await Promise.all([closed(front), closed(server)])
    },
  }
}

function contextOptions({ cert, key, clientCa }: ListenerCertificate, { min_version: minVersion }: ListenerTls) {
  return { cert, key, minVersion, ...(clientCa !== null && { ca: clientCa }) } as const
}

/** Files that do not fit together are met while they are replaced: the certificate in force stays until they fit. */
function watchCertificate(
  front: TlsServer,
  name: SecureListener,
  files: ListenerTls,
  logger: Logger,
  report: (certificate: ListenerCertificate) => void,
): { stop(): void } {
  const paths = [files.certificate, files.key, ...(files.client_ca === undefined ? [] : [files.client_ca])]
  const reload = (): void => {
    const read = readListenerCertificate(files)
    if (!read.ok) {
      const { file, reason } = read.problem
      logger.error(
        { event: 'listener.certificate_unusable', listener: name, file: files[file], reason },
        'the changed certificate cannot be used; the one before it stays in force',
      )
      return
    }
    front.setSecureContext(contextOptions(read.value, files))
    report(read.value)
    logger.info({ event: 'listener.certificate_reloaded', listener: name }, 'listener certificate reloaded')
  }
  for (const path of paths) watchFile(path, { interval: WATCH_MS, persistent: false }, reload)
  return {
    stop() {
      for (const path of paths) unwatchFile(path, reload)
    },
  }
}
