/** The service of echo.proto by Connect's own server and clients: each of its three protocols over HTTP/1.1. */
import { createServer } from 'node:http'
import type { TestContext } from 'node:test'
import {
  createFileRegistry,
  fromJson,
  toJson,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
} from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import type { Transport } from '@connectrpc/connect'
import { connectNodeAdapter } from '@connectrpc/connect-node'
import { textAt } from '../json.ts'
import { listening } from './listening.ts'

const NOTE = '.test.echo.v1.Note'

/** What a compiler makes of the part of echo.proto that HTTP/1.1 can carry. */
const registry = createFileRegistry(
  fromJson(FileDescriptorProtoSchema, {
    name: 'echo.proto',
    package: 'test.echo.v1',
    syntax: 'proto3',
    messageType: [
      {
        name: 'Note',
        field: [{ name: 'text', number: 1, type: 'TYPE_STRING', label: 'LABEL_OPTIONAL', jsonName: 'text' }],
      },
    ],
    service: [
      {
        name: 'Echo',
        method: [
          { name: 'Say', inputType: NOTE, outputType: NOTE, options: { idempotencyLevel: 'NO_SIDE_EFFECTS' } },
          { name: 'Count', inputType: NOTE, outputType: NOTE, serverStreaming: true },
        ],
      },
    ],
  }),
  () => undefined,
)

function methods() {
  const { say, count } = registry.getService('test.echo.v1.Echo')?.method ?? {}
  if (!isUnary(say) || !isServerStreaming(count)) throw new Error('the service is another one')
  return { say, count }
}

function isUnary(method: DescMethod | undefined): method is DescMethodUnary {
  return method?.methodKind === 'unary'
}

function isServerStreaming(method: DescMethod | undefined): method is DescMethodServerStreaming {
  return method?.methodKind === 'server_streaming'
}

export interface ConnectService {
  readonly origin: string
  /** Methods and paths of the calls that came. */
  readonly calls: string[]
  /** Nothing is there any more. */
  stop(): void
}

export async function startConnectService(t: TestContext): Promise<ConnectService> {
  const { say, count } = methods()
  const calls: string[] = []
  const handler = connectNodeAdapter({
    routes(router) {
      router.rpc(say, (request) => request)
      router.rpc(count, async function* (request) {
        yield request
        await Promise.resolve()
        yield request
      })
    },
  })
  const server = createServer((request, response) => {
    calls.push(`${request.method} ${(request.url ?? '').split('?', 1)[0]}`)
    handler(request, response)
  })
  return {
    origin: await listening(t, server),
    calls,
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Texts that come back for one that is sent; rejects with a ConnectError. */
export async function echoBy(transport: Transport, text: string): Promise<readonly string[]> {
  const { say } = methods()
  const { message } = await transport.unary(say, undefined, undefined, undefined, fromJson(say.input, { text }))
  return [textAt(toJson(say.output, message), 'text')]
}

export async function countBy(transport: Transport, text: string): Promise<readonly string[]> {
  const { count } = methods()
  const input = (async function* () {
    yield await Promise.resolve(fromJson(count.input, { text }))
  })()
  const { message } = await transport.stream(count, undefined, undefined, undefined, input)
  const texts: string[] = []
  for await (const one of message) texts.push(textAt(toJson(count.output, one), 'text'))
  return texts
}
