/** A proxy that asks over gRPC as Envoy does. */
import { grpcClient } from './grpc-client.ts'

export interface GrpcAsker {
  /** @param http members of AttributeContext.HttpRequest @param signal cancels the check */
  readonly check: (http: object, signal?: AbortSignal) => Promise<unknown>
  readonly close: () => void
}

/** @param address HOST:PORT */
export function grpcAsker(address: string): GrpcAsker {
  const client = grpcClient('ext-authz.proto', 'envoy.service.auth.v3.Authorization', address)
  return {
    check: (http, signal) => client.call('Check', { attributes: { request: { http } } }, signal),
    close: () => client.close(),
  }
}
