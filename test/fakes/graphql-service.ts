/** A GraphQL server by the reference implementation: POST and GET, batches, persisted queries, uploads as far as their operations, event streams by graphql-sse. */
import { createServer, type IncomingMessage } from 'node:http'
import type { TestContext } from 'node:test'
import { buildSchema, graphql, subscribe } from 'graphql'
import { createHandler } from 'graphql-sse/lib/use/http'
import { sha256Hex } from '../../gateway/runtime/hash.ts'
import { at } from '../json.ts'
import { listening } from './listening.ts'

export interface GraphqlService {
  /** Of the endpoint. */
  readonly url: string
  /** Documents that were executed. */
  readonly executed: string[]
  /** `Authorization` of each introspection. */
  readonly introspections: (string | undefined)[]
  /** What it offers from now on. */
  offer(sdl: string): void
}

const USER = { id: '1', name: 'Ada', role: 'ADMIN', orders: [] }

const ROOT = {
  user: USER,
  orders: [],
  addUser: USER,
  async *ticks() {
    yield { ticks: 1 }
    await Promise.resolve()
    yield { ticks: 2 }
  },
  broken: () => {
    throw new Error('out of order')
  },
}

export async function startGraphqlService(t: TestContext, sdl: string): Promise<GraphqlService> {
  let schema = buildSchema(sdl)
  const executed: string[] = []
  const introspections: (string | undefined)[] = []
  const persisted = new Map<string, string>()

  const execute = async (asked: unknown, request: IncomingMessage): Promise<unknown> => {
    const hash = at(asked, 'extensions', 'persistedQuery', 'sha256Hash')
    const stated = at(asked, 'query')
    if (typeof hash === 'string' && typeof stated === 'string' && sha256Hex(stated) === hash)
      persisted.set(hash, stated)
    const source = typeof stated === 'string' ? stated : persisted.get(String(hash))
    if (source === undefined) return { errors: [{ message: 'PersistedQueryNotFound' }] }
    if (source.includes('__schema')) introspections.push(request.headers.authorization)
    else executed.push(source)
    const [operationName, variables] = [at(asked, 'operationName'), at(asked, 'variables')]
    return graphql({
      schema,
      source,
      rootValue: ROOT,
      variableValues: typeof variables === 'object' && variables !== null ? { ...variables } : {},
      operationName: typeof operationName === 'string' ? operationName : null,
    })
  }
  const stream = createHandler({
    schema: () => schema,
    onSubscribe(_request, { query }) {
      executed.push(query)
    },
    subscribe: (args) => subscribe({ ...args, rootValue: ROOT }),
  })
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/stream') === true) {
      void stream(request, response)
      return
    }
    void (async () => {
      const asked = await askedIn(request)
      const result: unknown = Array.isArray(asked)
        ? await Promise.all(asked.map((one) => execute(one, request)))
        : await execute(asked, request)
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result))
    })()
  })
  const origin = await listening(t, server)
  return {
    url: `${origin}/graphql`,
    executed,
    introspections,
    offer(text) {
      schema = buildSchema(text)
    },
  }
}

async function askedIn(request: IncomingMessage): Promise<unknown> {
  const inAddress = new URL(request.url ?? '/', 'http://graphql.test').searchParams
  if (request.method === 'GET')
    return Object.fromEntries(
      [...inAddress].map(([name, value]) => [name, name === 'query' ? value : JSON.parse(value)]),
    )
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  const text = Buffer.concat(chunks).toString('utf8')
  return request.headers['content-type'] === 'application/graphql' ? { query: text } : JSON.parse(text)
}
