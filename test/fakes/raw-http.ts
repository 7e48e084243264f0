/** HTTP/1.1 as bytes on a socket: for requests that no client library would send, and answers that none would show. */
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'

/** Sends the bytes and answers all that comes back until the other side closes. */
export function exchangeBytes(url: string, bytes: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = openSocket(url)
    let received = ''
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1')
    })
    socket.on('close', () => resolve(received))
    socket.on('error', reject)
    socket.write(bytes)
  })
}

export function openSocket(url: string): Socket {
  const { hostname, port } = new URL(url)
  return connect(Number(port), hostname)
}

/** A request that asks for the connection to be closed; `\n` stands for CRLF. */
export function requestText(head: string, body = ''): string {
  return `${head.trim().replaceAll('\n', '\r\n')}\r\nConnection: close\r\n\r\n${body}`
}

export function statusOf(answer: string): number {
  return Number(answer.split(' ', 2)[1])
}

/** Of a request by plaintext HTTP/2 whose body, if any, follows without a length. */
export async function statusByHttp2(origin: string, method: string, body: string): Promise<number> {
  const session = connectHttp2(origin)
  const stream = session.request({ ':method': method, ':path': '/pets' }, { endStream: false })
  stream.end(body)
  const [fields]: { readonly ':status'?: number }[] = await once(stream, 'response')
  stream.resume()
  await once(stream, 'close')
  session.close()
  return fields?.[':status'] ?? 0
}
