/** Reads a request body whole, within a bound: only where a recogniser has to see it (wire.md §1). */
import type { IncomingMessage } from 'node:http'

export type ReadBody =
  | { readonly ok: true; readonly body: Buffer }
  | { readonly ok: false; readonly why: 'too_large' | 'aborted' }

/** Never rejects. `aborted`: the client went away before the body was whole. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<ReadBody> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.resolve({ ok: false, why: 'too_large' })
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    const settle = (result: ReadBody): void => {
      request.off('data', onData)
      request.off('end', onEnd)
      request.off('close', onClose)
      request.off('error', onClose)
      resolve(result)
    }
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      if (size <= maxBytes) chunks.push(chunk)
      else settle({ ok: false, why: 'too_large' })
    }
    const onEnd = (): void =>
      settle({ ok: true, body: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks) })
    const onClose = (): void => settle({ ok: false, why: 'aborted' })
    request.on('data', onData)
    request.on('end', onEnd)
    request.on('close', onClose)
    request.on('error', onClose)
  })
}
