/** A gRPC client made at test time from a .proto file, which knows nothing of the gateway's own description of the protocol. */
import { join } from 'node:path'
import { credentials, loadPackageDefinition } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

export interface GrpcClient {
  /** One message in, one out. Rejects with the status of the server. @param signal cancels the call */
  call(method: string, message: object, signal?: AbortSignal): Promise<unknown>
  /** Begins a call in which both sides send messages. */
  stream(method: string): unknown
  close(): void
}

/** @param proto file in this folder @param service its full name @param address HOST:PORT */
export function grpcClient(proto: string, service: string, address: string): GrpcClient {
  const definition = loadSync(join(import.meta.dirname, proto), { keepCase: true, enums: String, oneofs: true })
  const constructor = service
    .split('.')
    .reduce<unknown>((inner, name) => Reflect.get(Object(inner), name), loadPackageDefinition(definition))
  if (typeof constructor !== 'function') throw new Error(`${service} is not in ${proto}`)
  const client: unknown = Reflect.construct(constructor, [address, credentials.createInsecure()])
  const method = (name: string): ((...values: readonly unknown[]) => unknown) => {
    const found: unknown = Reflect.get(Object(client), name)
    if (typeof found !== 'function') throw new Error(`the client has no ${name}`)
    return (...values) => Reflect.apply(found, client, values)
  }
  return {
    call: (name, message, signal) =>
      new Promise((resolve, reject) => {
        const call = method(name)(message, (error: Error | null, answer: unknown) => {
          if (error === null) resolve(answer)
          else reject(error)
        })
        signal?.addEventListener('abort', () => Object(call).cancel())
      }),
    stream: (name) => method(name)(),
    close: () => void method('close')(),
  }
}
