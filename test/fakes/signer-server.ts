/** A signer that keeps its key to itself, on loopback or on a unix socket; tests make it fail. */
import { createPrivateKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

export interface SignerServer {
  /** For `signer.url`. */
  readonly url: string
  /** For `signer.public_key`. */
  readonly x: string
  /** Bodies it was asked with. */
  readonly asked: unknown[]
  readonly headers: IncomingMessage['headers'][]
  /** Answers instead of signing; null: signs. */
  misbehaviour: ((response: ServerResponse) => void) | null
  close(): Promise<void>
}

/** @param socket path of a unix socket; loopback without it */
export async function startSigner(socket?: string): Promise<SignerServer> {
  const pair = generateKeyPairSync('ed25519')
  const x = pair.publicKey.export({ format: 'jwk' }).x ?? ''
  const asked: unknown[] = []
  const headers: IncomingMessage['headers'][] = []
  let misbehaviour: SignerServer['misbehaviour'] = null
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request)
    asked.push(body)
    headers.push(request.headers)
    if (misbehaviour !== null) misbehaviour(response)
    else if (request.url !== '/sign') response.writeHead(404).end()
    else response.end(JSON.stringify({ signature: signed(body, pair.privateKey) }))
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  server.listen(socket === undefined ? { host: '127.0.0.1', port: 0 } : { path: socket })
  await once(server, 'listening')
  const address = server.address()
  const url =
    typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}/sign` : `unix:${socket}`
  return {
    url,
    x,
    asked,
    headers,
    get misbehaviour() {
      return misbehaviour
    },
    set misbehaviour(next) {
      misbehaviour = next
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A signature by a key that nobody knows. */
export function strangersSignature(): string {
  const { privateKey } = generateKeyPairSync('ed25519')
  return sign(
    null,
    Buffer.from('something else'),
    createPrivateKey(privateKey.export({ format: 'pem', type: 'pkcs8' })),
  ).toString('base64url')
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}

function signed(body: unknown, key: KeyObject): string {
  const input = typeof body === 'object' && body !== null && 'signing_input' in body ? String(body.signing_input) : ''
  return sign(null, Buffer.from(input, 'latin1'), key).toString('base64url')
}
