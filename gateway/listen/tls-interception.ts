/**
 * Terminates TLS as the host that the client asked for, and hands the plaintext connection on. Knows nothing of HTTP or
 * of routes.
 */
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { tls } from '../runtime/node-tls.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Leaves } from '../tls/leaf-certificates.ts'

export interface InterceptionDeps {
  readonly leaves: Leaves
  readonly metrics: Metrics
  readonly logger: Logger
}

interface Intercepted {
  /** The host that the connection is for: its certificate is presented, and no other server name is accepted. */
  readonly host: string
  readonly correlationId: string
  /** From now until TLS is established. */
  readonly timeoutMs: number
}

type HandshakeResult = 'done' | 'failed' | 'timed_out' | 'wrong_name'

/**
 * Resolves with the connection inside TLS; null when the handshake failed, and the socket is closed.
 * Rejects with a StartupError when no certificate can be signed.
 */
export async function endTls(
  socket: Socket,
  { host, correlationId, timeoutMs }: Intercepted,
  { leaves, metrics, logger }: InterceptionDeps,
): Promise<TLSSocket | null> {
  const secureContext = await leaves.contextFor(host)
  if (socket.destroyed) return null
  return new Promise((resolve) => {
    let fault: HandshakeResult = 'failed'
    const secure = new (tls().TLSSocket)(socket, {
      isServer: true,
      secureContext,
      ALPNProtocols: ['h2', 'http/1.1'],
      SNICallback: (name, done) => {
        // Another name than the requested one would bypass the policy for that host.
        if (name.toLowerCase() === host) return done(null, secureContext)
        fault = 'wrong_name'
        done(new Error(`the connection was opened to ${host}, but TLS asks for ${name}`))
      },
    })
    // A second handshake could ask for another server; its connection is closed.
    secure.disableRenegotiation()
    const timer = setTimeout(() => {
      fault = 'timed_out'
      secure.destroy()
    }, timeoutMs)
    const finish = (result: HandshakeResult, cause: Error | null): void => {
      clearTimeout(timer)
      secure.off('secure', onSecure).off('close', onClose).off('end', onEnd)
      metrics.count('preflight_tls_handshakes_total', { result })
      if (result === 'done') return resolve(secure)
      logger.info(
        { event: 'interception.handshake_failed', correlation_id: correlationId, host, result, err: cause },
        /UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN/.test(codeOf(cause))
          ? 'TLS handshake failed: the client does not trust the certificate of the gateway (preflight ca show)'
          : 'TLS handshake failed',
      )
      socket.destroy()
      resolve(null)
    }
    let cause: Error | null = null
    const onSecure = (): void => finish('done', null)
    const onClose = (): void => finish(fault, cause)
    // A client that ends its side before TLS is established has disconnected.
    const onEnd = (): void => void secure.destroy()
    secure.on('error', (error: Error) => {
      cause = error
      secure.destroy()
    })
    secure.on('secure', onSecure).on('close', onClose).on('end', onEnd)
  })
}

function codeOf(error: Error | null): string {
  return error !== null && 'code' in error ? String(error.code) : ''
}
