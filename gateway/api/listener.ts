/** The API listener: takes requests off the wire, hands each to its route, drains on close. */
import type { AddressInfo } from 'node:net'
import type { ApiDeps } from './deps.ts'

export interface Api {
  /** Resolves with the bound address. Rejects with the error of `listen` (EADDRINUSE …). */
  listen(host: string, port: number): Promise<AddressInfo>
  /** Requests under way. */
  openRequests(): number
  /** Takes no new connection, lets requests under way finish for `drainMs`, then breaks them off. */
  close(drainMs: number): Promise<void>
}

export declare function createApi(deps: ApiDeps): Api
