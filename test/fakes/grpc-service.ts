/** A gRPC server and its client, both by @grpc/grpc-js: every way to call, with metadata, trailers, errors and cancellations. */
import { join } from 'node:path'
import {
  credentials,
  loadPackageDefinition,
  makeGenericClientConstructor,
  Metadata,
  Server,
  ServerCredentials,
  status,
  type Client,
  type ChannelCredentials,
  type ChannelOptions,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

export interface Note {
  readonly text: string
  readonly load?: Buffer
}

export interface GrpcService {
  readonly origin: string
  readonly port: number
  /** Metadata of the calls that came. */
  readonly calls: { readonly path: string; readonly metadata: Metadata }[]
  /** Calls that were given up by their client. */
  cancelled(): number
  close(): void
}

const MAX_MESSAGE = 16 * 1024 * 1024

function echoService(): ServiceDefinition {
  const loaded = loadSync(join(import.meta.dirname, 'echo.proto'))
  loadPackageDefinition(loaded)
  const service: unknown = loaded['test.echo.v1.Echo']
  if (!isService(service)) throw new Error('the service is not in the package')
  return service
}

function isService(value: unknown): value is ServiceDefinition {
  return typeof value === 'object' && value !== null && 'Say' in value
}

function trailer(): Metadata {
  const metadata = new Metadata()
  metadata.set('sum', '42')
  metadata.set('sum-bin', Buffer.from([0, 255]))
  return metadata
}

/** @param leaf certificate and key: then it speaks TLS */
export async function startGrpcService(leaf?: { readonly cert: string; readonly key: string }): Promise<GrpcService> {
  const calls: GrpcService['calls'] = []
  let cancelled = 0
  const server = new Server({ 'grpc.max_receive_message_length': MAX_MESSAGE })
  server.addService(echoService(), {
    Say(call: ServerUnaryCall<Note, Note>, done: sendUnaryData<Note>) {
      calls.push({ path: call.getPath(), metadata: call.metadata })
      call.on('cancelled', () => (cancelled += 1))
      const { text } = call.request
      if (text === 'never') return
      if (text === 'fail')
        return done({ code: status.FAILED_PRECONDITION, details: 'not \u00fcber it', metadata: trailer() })
      const head = new Metadata()
      head.set('greeting', 'hello')
      call.sendMetadata(head)
      done(null, call.request, trailer())
    },
    Count(call: ServerWritableStream<Note, Note>) {
      calls.push({ path: call.getPath(), metadata: call.metadata })
      call.on('cancelled', () => (cancelled += 1))
      const isEndless = call.request.text === 'endless'
      for (let index = 0; index < (isEndless ? 1 : 100); index += 1) call.write({ text: String(index) })
      if (!isEndless) call.end(trailer())
    },
    Gather(call: ServerReadableStream<Note, Note>, done: sendUnaryData<Note>) {
      let text = ''
      call.on('data', (note: Note) => (text += note.text))
      call.on('end', () => done(null, { text }, trailer()))
    },
    Talk(call: ServerDuplexStream<Note, Note>) {
      call.on('data', (note: Note) => call.write(note))
      call.on('end', () => call.end(trailer()))
    },
  })
  const security =
    leaf === undefined
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [{ cert_chain: Buffer.from(leaf.cert), private_key: Buffer.from(leaf.key) }])
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', security, (error, bound) => (error === null ? resolve(bound) : reject(error))),
  )
  return {
    origin: `${leaf === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    calls,
    cancelled: () => cancelled,
    close: () => server.forceShutdown(),
  }
}

/** @param address HOST:PORT */
export function grpcClient(
  address: string,
  security: ChannelCredentials = credentials.createInsecure(),
  options: ChannelOptions = {},
): Client {
  const Constructor = makeGenericClientConstructor(echoService(), 'Echo')
  return new Constructor(address, security, { 'grpc.max_receive_message_length': MAX_MESSAGE, ...options })
}

/** The method of a client that was made from a description. */
export function grpcMethod(client: Client, name: string): (...values: readonly unknown[]) => unknown {
  const found: unknown = Reflect.get(client, name)
  if (typeof found !== 'function') throw new Error(`the client has no ${name}`)
  return (...values) => Reflect.apply(found, client, values)
}
