/**
 * The parts of undici that the gateway asks others with. They are taken one by one: the package as a whole brings fetch,
 * WebSocket, caches and mocks too, 9 MB in every process for what nothing here calls. What connects is loaded with the first
 * question, TLS and HTTP/2 with it: an idle gateway asks nobody. Types, and the version, are undici's own.
 */
import { createRequire } from 'node:module'
import type {
  Agent as UndiciAgent,
  buildConnector,
  Dispatcher,
  errors as undiciErrors,
  Pool as UndiciPool,
} from 'undici'

const require = createRequire(import.meta.url)

export type Agent = UndiciAgent
export type UndiciPoolType = UndiciPool

export const errors: typeof undiciErrors = require('undici/lib/core/errors.js')

interface Dispatchers {
  readonly Agent: typeof UndiciAgent
  readonly UndiciPoolType: typeof UndiciPool
}

let loaded: Dispatchers | null = null

function dispatchers(): Dispatchers {
  if (loaded !== null) return loaded
  // The package's own entry does the same: what asks by promise is mixed into what dispatches.
  Object.assign(require('undici/lib/dispatcher/dispatcher.js').prototype, require('undici/lib/api/index.js'))
  loaded = {
    Agent: require('undici/lib/dispatcher/agent.js'),
    UndiciPoolType: require('undici/lib/dispatcher/pool.js'),
  }
  return loaded
}

/** Loads what connects, before it is needed. */
export function loadDispatchers(): void {
  dispatchers()
}

/** Connections to any number of origins. */
export function openAgent(options: UndiciAgent.Options): Agent {
  const { Agent } = dispatchers()
  return new Agent(options)
}

/** Connections to one origin. */
export function openPool(origin: string, options: UndiciPool.Options): UndiciPoolType {
  const { UndiciPoolType: Pool } = dispatchers()
  return new Pool(origin, options)
}

export type Connector = buildConnector.connector

/** What makes the connections of a pool. */
export function openConnector(options: buildConnector.BuildOptions): Connector {
  const build: typeof buildConnector = require('undici/lib/core/connect.js')
  return build(options)
}

/** Asks by whatever dispatches a request, as pools do; the options are for the answer, what is sent is the dispatcher's to know. */
export function requestBy(
  dispatcher: { dispatch(options: unknown, handler: Dispatcher.DispatchHandler): unknown },
  options: Dispatcher.RequestOptions,
): Promise<Dispatcher.ResponseData> {
  return Reflect.apply(require('undici/lib/api/api-request.js'), dispatcher, [options])
}

/** What a request says beside its address. */
interface RequestOptions extends Omit<Dispatcher.RequestOptions, 'origin' | 'path'> {
  readonly dispatcher: Dispatcher
}

/** Asks an address; no redirect is followed. Rejects with one of `errors`, or with the reason of the signal. */
export function request(
  { origin, pathname, search }: URL,
  { dispatcher, ...options }: RequestOptions,
): Promise<Dispatcher.ResponseData> {
  return dispatcher.request({ ...options, origin, path: pathname + search })
}
