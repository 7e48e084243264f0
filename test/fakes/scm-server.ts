/** The frame of the fake platforms: routes by pattern, a token that is asked for, every request kept, faults on demand. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { ShownReport } from './commit-reports.ts'
import type { FakeRepository } from './scm-repository.ts'

export interface ScmRequest {
  readonly method: string
  /** The path as it was received. The pattern gets decoded segments. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface ScmReply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** A Buffer is sent as it is, all else as JSON. */
  readonly body: unknown
}

export type ScmRoute = readonly [
  method: string,
  pattern: RegExp,
  answer: (request: ScmRequest, ...groups: readonly string[]) => ScmReply | Promise<ScmReply>,
]

export interface ScmServer {
  readonly origin: string
  readonly repository: FakeRepository
  /** All requests, in the order received. */
  readonly requests: readonly ScmRequest[]
  /** Answers instead of the platform while it gives something. */
  fault: ((request: ScmRequest) => ScmReply | null) | null
  /** What changed something: merges, writes. */
  readonly effects: string[]
  /** What was shown at commits. */
  readonly shown: ShownReport[]
  close(): Promise<void>
}

export const SCM_TOKEN = 'scm-token-of-the-caller'

export interface ScmServerOptions {
  readonly repository: FakeRepository
  readonly routes: (server: ScmServer) => readonly ScmRoute[]
  /** In the platform's own form. */
  readonly error: (status: number, message: string) => unknown
  /** Accepted values of Authorization or PRIVATE-TOKEN. */
  readonly tokens?: readonly string[]
}

export async function startScmServer(options: ScmServerOptions): Promise<ScmServer> {
  const { repository, error, tokens = [`Bearer ${SCM_TOKEN}`, `token ${SCM_TOKEN}`, SCM_TOKEN] } = options
  const requests: ScmRequest[] = []
  const answer = async (request: ScmRequest): Promise<ScmReply> => {
    const faulty = state.fault?.(request) ?? null
    if (faulty !== null) return faulty
    const given = [request.headers.authorization, request.headers['private-token']].filter((one) => one !== undefined)
    if (!given.some((one) => tokens.includes(String(one)))) return { status: 401, body: error(401, 'Bad credentials') }
    for (const [method, pattern, reply] of routes) {
      const found = method === request.method ? pattern.exec(request.path) : null
      if (found !== null) return reply(request, ...found.slice(1).map((group) => decodeURIComponent(group ?? '')))
    }
    return { status: 404, body: error(404, 'Not Found') }
  }
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const [path = '/', query = ''] = (incoming.url ?? '/').split('?')
      const body = Buffer.concat(chunks).toString('utf8')
      const { method = 'GET', headers } = incoming
      const request = { method, path, query: new URLSearchParams(query), headers, body }
      requests.push(request)
      // A fake that fails is a broken connection to whoever asked.
      send(answer(request), response).catch(() => response.destroy())
    })
  })
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    })
  })
  const state: ScmServer = {
    origin: `http://127.0.0.1:${port}`,
    repository,
    requests,
    fault: null,
    effects: [],
    shown: [],
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
  const routes = options.routes(state)
  return state
}

async function send(reply: Promise<ScmReply>, response: ServerResponse): Promise<void> {
  const { status = 200, headers = {}, body } = await reply
  const isRaw = Buffer.isBuffer(body)
  response.writeHead(status, { 'content-type': isRaw ? 'application/octet-stream' : 'application/json', ...headers })
  response.end(isRaw ? body : JSON.stringify(body))
}
