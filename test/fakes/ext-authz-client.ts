/** A proxy that asks over gRPC as Envoy does, with a client that knows nothing of the gateway's own description of the protocol. */
import { join } from 'node:path'
import { credentials, loadPackageDefinition } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

export interface GrpcAsker {
  /** @param http members of AttributeContext.HttpRequest */
  readonly check: (http: object) => Promise<unknown>
  readonly close: () => void
}

/** @param address HOST:PORT */
export function grpcAsker(address: string): GrpcAsker {
  const definition = loadSync(join(import.meta.dirname, 'ext-authz.proto'), { keepCase: true, enums: String })
  const service = Object.values(loadPackageDefinition(definition)).map((root) =>
    ['service', 'auth', 'v3', 'Authorization'].reduce<unknown>((inner, name) => Reflect.get(Object(inner), name), root),
  )[0]
  if (typeof service !== 'function') throw new Error('the service is not in the package')
  const client: unknown = Reflect.construct(service, [address, credentials.createInsecure()])
  const method = (name: string): ((...values: readonly unknown[]) => unknown) => {
    const found: unknown = Reflect.get(Object(client), name)
    if (typeof found !== 'function') throw new Error(`the client has no ${name}`)
    return (...values) => Reflect.apply(found, client, values)
  }
  return {
    check: (http) =>
      new Promise((resolve, reject) => {
        method('Check')({ attributes: { request: { http } } }, (error: Error | null, answer: unknown) => {
          if (error === null) resolve(answer)
          else reject(error)
        })
      }),
    close: () => void method('close')(),
  }
}
