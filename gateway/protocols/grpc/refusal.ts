/** Refusals of an rpc, in the form of its client: gRPC, gRPC-Web, or Connect with one message or with streams. */
import type { IncomingHttpHeaders } from 'node:http'
import { ERRORS } from '../../errors/errors.ts'
import { grpcCode, grpcRefusal } from './request.ts'
import type { Refusal } from '../common/action.ts'
import type { TrafficPath } from '../../routing/traffic-path.ts'
import type { Answer } from '../../calls/answer.ts'
import { httpRefusal, jsonAnswer, refusalMembers } from '../common/refusal.ts'

type RenderRefusal = (refusal: Refusal, type: string) => Answer

interface RefusalForm {
  /** Media type of the request. */
  readonly type: RegExp
  readonly render: RenderRefusal
}

/**
 * The first match counts. A refusal of native gRPC is plain HTTP: the gateway converts all its answers to such clients.
 */
const FORMS: readonly RefusalForm[] = [
  { type: /^application\/grpc-web(?:-text)?(?:\+[\w.-]+)?$/, render: grpcWebRefusal },
  { type: /^application\/grpc(?:\+[\w.-]+)?$/, render: httpRefusal },
  { type: /^application\/connect\+[\w.-]+$/, render: connectStreamRefusal },
]

/** @param trafficPath another proxy needs the HTTP status, and converts it to its client's form itself */
export function rpcRefusal(headers: IncomingHttpHeaders, trafficPath: TrafficPath, refusal: Refusal): Answer {
  const type = mediaTypeOfCall(headers)
  const form = trafficPath === 'ext_authz' ? undefined : FORMS.find((one) => one.type.test(type))
  return (form?.render ?? connectRefusal)(refusal, type)
}

function mediaTypeOfCall(headers: IncomingHttpHeaders): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

/** A head alone, as in gRPC; its clients look for the status there before they read the body. */
function grpcWebRefusal(refusal: Refusal, type: string): Answer {
  const { status, fields, body } = grpcRefusal(httpRefusal(refusal))
  const headers = Object.fromEntries(
    fields.flatMap((name, index) => (index % 2 === 0 ? [[name, fields[index + 1] ?? ''] as const] : [])),
  )
  return { status, headers: { ...headers, 'content-type': type }, body }
}

/** Names of google.rpc.Code as Connect writes them (Connect Protocol, "Error Codes"). */
const CONNECT_CODES: Readonly<Record<number, string>> = {
  3: 'invalid_argument',
  4: 'deadline_exceeded',
  5: 'not_found',
  7: 'permission_denied',
  8: 'resource_exhausted',
  9: 'failed_precondition',
  12: 'unimplemented',
  13: 'internal',
  14: 'unavailable',
  16: 'unauthenticated',
}

function connectCode(status: number): string {
  return CONNECT_CODES[grpcCode(status)] ?? 'unknown'
}

/** The HTTP status and a JSON body, from which its clients take code and message; so can people with other clients. */
function connectRefusal(refusal: Refusal): Answer {
  const { status } = ERRORS[refusal.code]
  return jsonAnswer(status, { ...refusalMembers(refusal), code: connectCode(status) })
}

/** Flag of the message that ends a stream (Connect Protocol, "Error-EndStream"). */
const END_OF_STREAM = 0x02

/** A stream reports errors in its last message, which is its only one here. */
function connectStreamRefusal(refusal: Refusal, type: string): Answer {
  const code = connectCode(ERRORS[refusal.code].status)
  const end = Buffer.from(JSON.stringify({ ...refusalMembers(refusal), error: { code, message: refusal.message } }))
  const prefix = Buffer.alloc(5)
  prefix.writeUInt8(END_OF_STREAM, 0)
  prefix.writeUInt32BE(end.length, 1)
  return { status: 200, headers: { 'content-type': type }, body: Buffer.concat([prefix, end]) }
}
