/**
 * Servers that are their own authorization server have its endpoints next to that of MCP, at paths of their choice.
 * Requests to them pass, if they cannot be read as an MCP message.
 */
import type { Action } from '../common/action.ts'
import type { Call } from '../../calls/call.ts'
import { countingNames, otherSpelling } from '../../json/folded-names.ts'
import { httpRefusal } from '../common/refusal.ts'
import { isJsonObject } from '../../json/strict-json.ts'
import { callName } from '../common/request-line.ts'
import { hasTooManyFields, readNames } from '../../routing/query-names.ts'

/** Requests for tokens, their revocation, and pushed authorizations (RFC 6749 §4, 7009, 9126). */
const FORM_FIELDS = ['grant_type', 'token', 'response_type'] as const

/** What a framework that merges forms into its parameters would take for a message. */
const MESSAGE_FIELDS: ReadonlySet<string> = new Set(['jsonrpc', 'method', 'params'])

/**
 * A form that begins with the name of a field: no reader of JSON makes anything of it, whatever type it goes by. It has
 * no field of a message.
 */
export function isTokenRequest({ headers, body }: Pick<Call, 'headers' | 'body'>): boolean {
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1)
  if (type.trim().toLowerCase() !== 'application/x-www-form-urlencoded') return false
  if (headers['content-encoding'] !== undefined || body === null || !/^[a-z_]+=/.test(body.toString('latin1')))
    return false
  const text = body.toString('latin1')
  if (hasTooManyFields(text) || readNames(text).some((name) => MESSAGE_FIELDS.has(name))) return false
  const fields = new URLSearchParams(text)
  return FORM_FIELDS.some((name) => fields.has(name))
}

/** Of a message, in any letters. */
const MESSAGE_MEMBERS = {
  ...countingNames(['jsonrpc', 'id', 'method', 'params', 'result', 'error']),
  exact: new Set<string>(),
}

/** A client that introduces itself (RFC 7591 §2): metadata, and no member of a message. */
export function isClientRegistration(value: unknown): boolean {
  if (!isJsonObject(value) || otherSpelling(value, MESSAGE_MEMBERS) !== null) return false
  const { redirect_uris: addresses, grant_types: grants } = value
  return Array.isArray(addresses) || Array.isArray(grants)
}

export function passingAuthorization(call: Call): Action {
  return { kind: 'pass', name: callName(call), isStanding: false, watch: () => null, refuse: httpRefusal }
}
