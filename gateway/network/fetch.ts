/** A contract document from a URL: no address reached that may not be, bounded in size, time and redirects. */
import { isUtf8 } from 'node:buffer'
import { isIP } from 'node:net'
import { openAgent, request, type Agent } from './undici.ts'
import { fail, ok } from '../../engine/base.ts'
import type { Result } from '../../engine/internal.ts'
import { isPublicAddress } from './address.ts'
import { messageOf } from '../errors/startup-error.ts'
import { guardedLookup, RefusedAddressError, whyNotPublic } from './lookup.ts'

const TIMEOUT_MS = 15_000
const ACCEPT = 'application/json, application/yaml, text/yaml, */*'

interface FetchRules {
  /** Host names, each with `:port` where it is not the default one (configuration `diff.allow_urls`); null: the operator wrote the URL. */
  readonly allowedHosts: readonly string[] | null
  readonly maxBytes: number
  /** Which addresses may be connected to. Default: public ones. */
  readonly isPermitted?: (address: string) => boolean
  /** Maximum number of redirects. Default: 0. */
  readonly maxRedirects?: number
  /** Accept header; default: contract documents. */
  readonly accept?: string
}

export interface FetchedDocument {
  readonly text: string
  /** The address that answered it, after redirects: relative references start there (RFC 3986 §5.1.3). */
  readonly address: string
}

/** @param address an http(s) URL as the caller wrote it */
export async function fetchDocument(address: string, rules: FetchRules): Promise<Result<string>> {
  const fetched = await fetchLocated(address, rules)
  return fetched.ok ? ok(fetched.value.text) : fetched
}

/** The same, with the address that it came from. */
export async function fetchLocated(address: string, rules: FetchRules): Promise<Result<FetchedDocument>> {
  const url = URL.parse(address)
  const refused = whyRefused(url, rules)
  if (url === null || refused !== null) return notFetched(refused ?? NO_URL)
  const isPermitted = rules.isPermitted ?? isPublicAddress
  const agent = openAgent({
    connect: {
      lookup: guardedLookup((address) =>
        isPermitted(address)
          ? null
          : new RefusedAddressError(url.hostname, address, whyNotPublic(address) ?? 'may not be asked'),
      ),
      timeout: TIMEOUT_MS,
    },
    maxResponseSize: rules.maxBytes,
  })
  try {
    return await fetchFollowing(url, agent, rules)
  } catch (error) {
    return notFetched(`fetching it failed: ${fetchReason(error)}`)
  } finally {
    await agent.destroy()
  }
}

const NO_URL = 'it is not an http(s) URL'

/** Null when the URL may be asked; each one that a redirect names is judged as the first one was. */
function whyRefused(url: URL | null, { allowedHosts, isPermitted = isPublicAddress }: FetchRules): string | null {
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return NO_URL
  if (url.username !== '' || url.password !== '') return 'credentials in a URL are not sent'
  if (allowedHosts?.some((host) => host.toLowerCase() === url.host) === false) {
    return `the host "${url.host}" is not in diff.allow_urls of the configuration`
  }
  const literal = url.hostname.replace(/^\[|\]$/g, '')
  // A literal address is connected to without a look-up, so it is judged here.
  if (isIP(literal) === 0 || isPermitted(literal)) return null
  return `${literal} ${whyNotPublic(literal) ?? 'may not be asked'}`
}

/** One time for all redirects together. */
async function fetchFollowing(start: URL, dispatcher: Agent, rules: FetchRules): Promise<Result<FetchedDocument>> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const most = rules.maxRedirects ?? 0
  let url = start
  for (let hops = 0; hops <= most; hops += 1) {
    const answer = await request(url, {
      dispatcher,
      method: 'GET',
      signal,
      headers: { accept: rules.accept ?? ACCEPT },
    })
    const { statusCode, headers, body } = answer
    if (statusCode === 200) return fetched(await body.bytes(), url.href)
    await body.dump()
    if (statusCode < 300 || statusCode > 399) return notFetched(`it answered ${statusCode}`)
    if (most === 0) return notFetched(`it answered ${statusCode}, and redirects are not followed`)
    const next = URL.parse(String(headers['location'] ?? ''), url.href)
    const refused = next?.protocol === 'http:' && url.protocol === 'https:' ? LESS_SAFE : whyRefused(next, rules)
    if (next === null || refused !== null)
      return notFetched(`it redirects to where nothing is fetched: ${refused ?? NO_URL}`)
    url = next
  }
  return notFetched(`it redirects more than ${most} times`)
}

function fetched(bytes: Uint8Array, address: string): Result<FetchedDocument> {
  return isUtf8(bytes) ? ok({ text: decoder.decode(bytes), address }) : notFetched('it is not UTF-8 text')
}

const decoder = new TextDecoder()

const LESS_SAFE = 'plain http from https'

function notFetched(message: string): Result<never> {
  return fail({ code: 'ARTIFACT_UNREADABLE', message: `The document cannot be fetched: ${message}.` })
}

function fetchReason(error: unknown): string {
  if (error instanceof RefusedAddressError) return error.message
  if (error instanceof Error && error.name === 'TimeoutError') return `no answer within ${TIMEOUT_MS / 1000} s`
  return messageOf(error)
}
