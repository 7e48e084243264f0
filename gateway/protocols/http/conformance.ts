/**
 * Checks calls of an API against the pinned contract (`validate`): arguments before the call is forwarded, answers as
 * they pass. An answer is never changed or withheld; a violation is reported.
 */
import { BytePieces } from '../../runtime/byte-pieces.ts'
import type { LimitsConfig } from '../../settings/limits.ts'
import type { Route } from '../../routing/route.ts'
import type { Logger } from '../../telemetry/log.ts'
import type { Violation } from '../../validation/message.ts'
import type { Validator } from '../../validation/validator.ts'
import type { AnswerWatcher } from '../../calls/answer.ts'
import type { Call, CallHead } from '../../calls/call.ts'
import { hasBody } from '../common/request-line.ts'
import type { ContractChecks, Departure, Under } from '../common/contract-checks.ts'
import { isUtf8Type } from '../../network/body-charset.ts'
import { isJsonType } from '../../network/json-type.ts'
import { unpacked } from '../../network/content-coding.ts'

export interface PinnedText {
  readonly digest: string
  readonly content: string
}

export interface ApiConformance {
  needsBody(head: CallHead): boolean
  /** Null: it conforms, as far as it can be checked. Rejects when it cannot be checked. */
  ofRequest(call: Call, pinned: PinnedText): Promise<Departure | null>
  watchAnswer(call: Call, pinned: PinnedText, under: Under): AnswerWatcher
}

interface ApiConformanceDeps {
  readonly validator: Validator
  readonly config: () => LimitsConfig
  readonly checks: Pick<ContractChecks, 'count' | 'drifted'>
  readonly logger: Logger
}

export function createApiConformance(deps: ApiConformanceDeps): ApiConformance {
  return {
    needsBody: (head) => needsBody(head, deps.config().limits.proxied_body),
    ofRequest: (call, pinned) => departureOfRequest(call, pinned, deps),
    watchAnswer: (call, pinned, under) => answerWatcherOf(call, pinned, under, deps),
  }
}

function needsBody({ route, received, headers }: CallHead, limit: number): boolean {
  if (route.validate === 'off' || !hasBody(received.headers) || !isJsonType(headers['content-type'])) return false
  const length = Number(received.headers['content-length'] ?? Number.NaN)
  // A route in observe mode refuses no request for its length.
  return isEnforced(route) || length <= limit
}

async function departureOfRequest(
  call: Call,
  pinned: PinnedText,
  { validator, config, checks }: ApiConformanceDeps,
): Promise<Departure | null> {
  const { route, method, upstreamPath: target, headers } = call
  try {
    const bytes = isJsonType(headers['content-type']) ? call.body : null
    const plain = await plainBody(bytes, headers, config().limits.proxied_body)
    // The upstream may read a body that this cannot read.
    if (!plain.ok) return departure(call, pinned, null, [{ where: 'body', message: plain.why }])
    const described = { side: 'request', method, target, headers: flat(headers) } as const
    const message = { ...described, hasBody: hasBody(call.received.headers), body: plain.bytes }
    const conformance = await validator.check(pinned, message)
    checks.count(route.name, 'request', conformance.result)
    return conformance.result === 'violates'
      ? departure(call, pinned, conformance.operation, conformance.violations)
      : null
  } catch (error) {
    checks.count(route.name, 'request', 'failed')
    throw error
  }
}

function answerWatcherOf(
  call: Call,
  pinned: PinnedText,
  under: Under,
  { validator, config, checks, logger }: ApiConformanceDeps,
): AnswerWatcher {
  const { method, upstreamPath: target } = call
  const limit = config().limits.proxied_body
  return watchAnswer(limit, async ({ status, headers, body: bytes }) => {
    try {
      const plain = await plainBody(bytes, headers, limit)
      const body = plain.ok ? plain.bytes : null
      const message = { side: 'answer', method, target, status, headers: flat(headers), body } as const
      const conformance = await validator.check(pinned, message)
      checks.count(call.route.name, 'answer', conformance.result)
      if (conformance.result !== 'violates') return
      checks.drifted(departure(call, pinned, conformance.operation, conformance.violations), under)
    } catch (error) {
      // The answer is already sent: an unchecked answer is counted, and is no fault of the call.
      checks.count(call.route.name, 'answer', 'failed')
      logger.debug(
        { event: 'contract.check_failed', err: error, correlation_id: call.correlationId },
        'response could not be checked against the contract',
      )
    }
  })
}

/** @param operation as the contract writes it */
function departure(
  call: Call,
  { digest: contract }: PinnedText,
  operation: string | null,
  violations: readonly Violation[],
): Departure {
  return { call, operation, contract, violations }
}

export function isEnforced({ validate, mode }: Pick<Route, 'validate' | 'mode'>): boolean {
  return validate === 'enforce' && mode === 'enforce'
}

type HeaderFields = Readonly<Record<string, string | readonly string[] | undefined>>

interface WholeAnswer {
  readonly status: number
  readonly headers: HeaderFields
  /** Null: longer than the limit, or a stream. */
  readonly body: Buffer | null
}

function watchAnswer(limit: number, onWhole: (answer: WholeAnswer) => Promise<void>): AnswerWatcher {
  let status = 0
  let headers: HeaderFields = {}
  let pieces: BytePieces | null = new BytePieces()
  let size = 0
  return {
    hasFailed: false,
    head(code, fields) {
      status = code
      headers = fields
      if (!isJsonType(flat(fields)['content-type'])) pieces = null
    },
    chunk(bytes) {
      size += bytes.length
      if (size > limit) pieces = null
      pieces?.add(bytes)
    },
    end() {
      void onWhole({ status, headers, body: pieces === null ? null : pieces.whole() })
    },
  }
}

/** `bytes` null: it was not read. */
type PlainBody = { readonly ok: true; readonly bytes: Buffer | null } | { readonly ok: false; readonly why: string }

async function plainBody(body: Buffer | null, headers: HeaderFields, limit: number): Promise<PlainBody> {
  if (body === null) return { ok: true, bytes: null }
  if (!isUtf8Type(flat(headers)['content-type'])) return { ok: false, why: 'the body is in other letters than UTF-8' }
  const encoding = headers['content-encoding']
  return unpacked(body, typeof encoding === 'string' ? encoding : undefined, limit)
}

function flat(headers: HeaderFields): Record<string, string> {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, typeof value === 'string' ? value : value.join(', ')] as const],
  )
  return Object.fromEntries(entries)
}
