/** What a request says beside its method and path, as one digest: a receipt that names it serves no other request. */
import { digestJson } from '../../../engine/base.ts'
import type { Call } from '../../calls/call.ts'
import { queryOf } from '../../routing/query-names.ts'
import { sha256Hex } from '../../runtime/hash.ts'
import { readParts } from './form-parts.ts'

type Sent = Pick<Call, 'body' | 'headers' | 'upstreamPath'>

/**
 * 64 hexadecimal digits over query, body, its type and its coding; null for a request without query and body. The boundary
 * of a form, which clients draw anew for each request, is no part of it.
 * @param fields further header fields that decide what the request does
 */
export function requestDigest(call: Sent, fields: readonly string[] = []): string | null {
  const { body, headers, upstreamPath } = call
  const query = queryOf(upstreamPath)
  const others = fields.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]))
  if (query === '' && others.length === 0 && (body === null || body.length === 0)) return null
  const { 'content-type': type = '', 'content-encoding': coding = '' } = headers
  const content = body === null || body.length === 0 ? [] : [coding, ...contentOf(body, type)]
  const [, digest = ''] = digestJson([query, content, others], sha256Hex).split(':')
  return digest
}

/** The target of a receipt that names the content too. @param content its digest; null: there is none */
export function withContent(target: string, content: string | null): string {
  return content === null ? target : `${target}#${content}`
}

function contentOf(body: Buffer, type: string): readonly unknown[] {
  const parts = readParts(body, type)
  if (!parts.ok) return [type, sha256Hex(body)]
  return ['multipart/form-data', parts.value.map(({ head, bytes }) => [head, sha256Hex(bytes)])]
}
