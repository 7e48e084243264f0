/**
 * The parts of undici that the gateway asks others with. They are taken one by one: the package as a whole brings fetch,
 * WebSocket, caches and mocks too, 9 MB in every process for what nothing here calls. Types, and the version, are undici's own.
 */
import { createRequire } from 'node:module'
import type { Agent as UndiciAgent, Dispatcher, errors as undiciErrors, Pool as UndiciPool } from 'undici'

const require = createRequire(import.meta.url)

export type Agent = UndiciAgent
export const Agent: typeof UndiciAgent = require('undici/lib/dispatcher/agent.js')

export type Pool = UndiciPool
export const Pool: typeof UndiciPool = require('undici/lib/dispatcher/pool.js')

export const errors: typeof undiciErrors = require('undici/lib/core/errors.js')

// The package's own entry does the same: what asks by promise is mixed into what dispatches.
Object.assign(require('undici/lib/dispatcher/dispatcher.js').prototype, require('undici/lib/api/index.js'))

/** What a request says beside its address. */
export interface RequestOptions extends Omit<Dispatcher.RequestOptions, 'origin' | 'path'> {
  readonly dispatcher: Dispatcher
}

/** Asks an address; no redirect is followed. Rejects with one of `errors`, or with the reason of the signal. */
export function request(
  { origin, pathname, search }: URL,
  { dispatcher, ...options }: RequestOptions,
): Promise<Dispatcher.ResponseData> {
  return dispatcher.request({ ...options, origin, path: pathname + search })
}
