/** A route of the API: one value that the dispatcher serves, the validator checks against and openapi.json is made from. */
import type { Observation } from '../telemetry/observation.ts'
import type { Static, TSchema, TUnknown } from 'typebox'
import { GatewayError, type ErrorCode } from '../errors/errors.ts'
import type { Right } from '../callers/rights.ts'
import type { Stranger, StrangersLimits } from './quota.ts'
import type { ApiSettings } from './settings.ts'
import type { ApiKey } from '../store/api-keys.ts'
import type { ApiDeps } from './deps.ts'

/** Who may call: anybody, the holder of a key, or the holder of a key whose role has a right. */
export type Access = 'public' | 'key' | Right

export type Method = 'GET' | 'POST' | 'DELETE'

/** What a route is served with: the parts of the gateway, and the table that contains the route. */
export interface RouteDeps extends ApiDeps {
  readonly routes: readonly ApiRoute[]
}

/** One request to a route: read, authenticated and checked. */
export interface RouteExchange<Body = unknown, Query = unknown> {
  /** Of the generation that the whole request uses. */
  readonly settings: ApiSettings
  readonly correlationId: string
  /** What is measured of the request. */
  readonly observation: Observation
  /** Null on public routes, except those that accept a key (`keyOptional`) and received a valid one. */
  readonly caller: ApiKey | null
  readonly body: Body
  readonly query: Query
  readonly params: Readonly<Record<string, string>>
  /** The media type of `produces` that the client prefers. */
  readonly mediaType: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The requested path, with its query. */
  readonly url: string
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
  /** Counts one request of this minute under a name; RATE_LIMITED when the minute is full. */
  throttle(name: string, limit: number): void
  /** The same for a request without a key: by the address that it comes from, by its account, and for everybody. */
  throttleStrangers(kind: string, limits: StrangersLimits, account?: Stranger['account']): void
  /**
   * Takes one request from the month's quota; QUOTA_EXCEEDED when none is left. Called once the request is known to be valid.
   */
  spend(): Promise<void>
}

export type RouteAnswer =
  | {
      readonly kind: 'json'
      readonly status: number
      readonly body: object
      readonly headers?: Readonly<Record<string, string>>
    }
  | {
      readonly kind: 'text'
      readonly status: number
      readonly mediaType: string
      readonly text: string
      readonly headers?: Readonly<Record<string, string>>
    }
  /** No body, e.g. 304. */
  | { readonly kind: 'empty'; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'lines'; readonly mediaType: string; readonly lines: AsyncIterable<string> }
  | { readonly kind: 'web'; readonly response: Response }

interface AnswerSpec {
  readonly description: string
  /** By media type. */
  readonly content: Readonly<Record<string, TSchema>>
}

/** A mistake in a request body; `code` is the code of the whole error when it has the highest precedence. */
export interface BodyMistake {
  readonly code: ErrorCode
  readonly pointer: string
  readonly message: string
}

export function bodyMistake(pointer: string, message: string): BodyMistake {
  return { code: 'INVALID_INPUT', pointer, message }
}

/** One column for each part of openapi.json; `handle` is the route itself. */
export interface RouteSpec<Body extends TSchema, Query extends TSchema> {
  readonly method: Method
  /** OpenAPI templates; all after the first are aliases. */
  readonly paths: readonly [string, ...string[]]
  readonly operationId: string
  readonly tag:
    | 'preflight'
    | 'receipts'
    | 'decisions'
    | 'approvals'
    | 'monitoring'
    | 'baselines'
    | 'bindings'
    | 'break-glass'
    | 'accounts'
    | 'discovery'
    | 'mcp'
  readonly summary: string
  readonly access: Access
  /** A key is checked when one is sent, though the route needs none. */
  readonly keyOptional?: boolean
  /** Counts towards the rate of the minute; the month's quota is taken by `spend`. */
  readonly counted?: boolean
  readonly body?: Body
  /** True: unknown members are listed in the answer, `ignored`; else they are mistakes (docs/reference/api.md#conventions). */
  readonly toleratesUnknown?: boolean
  /** True: a missing body counts as `{}`. */
  readonly bodyOptional?: boolean
  /** Media types of the body besides application/json. */
  readonly consumes?: readonly string[]
  readonly query?: Query
  readonly params?: Readonly<Record<string, string>>
  /** Request headers of this route, by name, with their purpose; all are optional. */
  readonly headers?: Readonly<Record<string, string>>
  readonly answers: Readonly<Record<number, AnswerSpec>>
  /** In addition to those that every route of its access and method has. */
  readonly errors?: readonly ErrorCode[]
  /**
   * Mistakes that a schema cannot express. Called only when the schema holds at and under `mistakesUnder` (default:
   * everywhere), so it may read nothing else.
   */
  mistakes?(body: Static<Body>, settings: ApiSettings): readonly BodyMistake[]
  readonly mistakesUnder?: string
  /** Members there that `mistakes` does not read: a violation in them does not prevent the call. */
  readonly mistakesUnread?: RegExp
  /** The error code of a schema violation, where it is not INVALID_INPUT. */
  readonly codes?: readonly MistakeCode[]
  handle(exchange: RouteExchange<Static<Body>, Static<Query>>, deps: RouteDeps): Promise<RouteAnswer>
}

/** Which violations of a body schema have a code of their own. */
interface MistakeCode {
  readonly code: ErrorCode
  /** Matches the JSON Pointer of the member at fault (of the missing member, when one is missing). */
  readonly pointer: RegExp
  /** Further condition on the body, e.g. that the member is really absent. */
  readonly keywords: readonly string[]
}

export type ApiRoute = RouteSpec<TSchema, TSchema>

/** A route with its body and query typed by their schemas. */
export function defineRoute<Body extends TSchema = TUnknown, Query extends TSchema = TUnknown>(
  route: RouteSpec<Body, Query>,
): RouteSpec<Body, Query> {
  return route
}

export function json(body: object, status = 200, headers: Readonly<Record<string, string>> = {}): RouteAnswer {
  return { kind: 'json', status, body, headers }
}

/** The answer with the request members that were not read, where the route tolerates them. */
export function withIgnored(
  answer: RouteAnswer,
  { toleratesUnknown }: Pick<ApiRoute, 'toleratesUnknown'>,
  ignored: readonly string[],
): RouteAnswer {
  return toleratesUnknown === true && answer.kind === 'json' ? { ...answer, body: { ...answer.body, ignored } } : answer
}

/** The caller of a route that the dispatcher has authenticated. */
export function callerOf({ caller }: RouteExchange): ApiKey {
  if (caller === null) throw new GatewayError('UNAUTHENTICATED')
  return caller
}

/** The media types of a route's successful answers. */
export function producedBy(route: Pick<ApiRoute, 'answers'>): readonly string[] {
  return [...new Set(Object.values(route.answers).flatMap(({ content }) => Object.keys(content)))]
}
