/** A contract document from a URL: no redirect followed, no address reached that may not be, bounded in size and time. */
import { isIP } from 'node:net'
import { openAgent, request, type Agent } from '../http-client.ts'
import { fail, ok } from '../../engine/base.ts'
import type { Result } from '../../engine/index.ts'
import { isPublicAddress } from './address.ts'
import { guardedLookup, RefusedAddressError, whyNotPublic } from './lookup.ts'

const TIMEOUT_MS = 15_000
const ACCEPT = 'application/json, application/yaml, text/yaml, */*'

export interface FetchRules {
  /** Host names, each with `:port` where it is not the default one (configuration `diff.allow_urls`); null: the operator wrote the URL. */
  readonly allowedHosts: readonly string[] | null
  readonly maxBytes: number
  /** Which addresses may be connected to; public ones unless told. */
  readonly isPermitted?: (address: string) => boolean
}

/** @param address an http(s) URL as the caller wrote it */
export async function fetchDocument(address: string, rules: FetchRules): Promise<Result<string>> {
  const url = URL.parse(address)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return unreadable('it is not an http(s) URL')
  if (url.username !== '' || url.password !== '') return unreadable('credentials in a URL are not sent')
  if (rules.allowedHosts?.some((host) => host.toLowerCase() === url.host) === false) {
    return unreadable(`the host "${url.host}" is not in diff.allow_urls of the configuration`)
  }
  const isPermitted = rules.isPermitted ?? isPublicAddress
  const literal = url.hostname.replace(/^\[|\]$/g, '')
  // A literal address is connected to without a look-up, so it is judged here.
  if (isIP(literal) !== 0 && !isPermitted(literal))
    return unreadable(`${literal} ${whyNotPublic(literal) ?? 'may not be asked'}`)
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
    return await read(url, agent)
  } catch (error) {
    return unreadable(`fetching it failed: ${reasonOf(error)}`)
  } finally {
    await agent.destroy()
  }
}

async function read(url: URL, dispatcher: Agent): Promise<Result<string>> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const { statusCode, body } = await request(url, { dispatcher, method: 'GET', signal, headers: { accept: ACCEPT } })
  if (statusCode >= 300 && statusCode < 400)
    return unreadable(`it answered ${statusCode}, and redirects are not followed`)
  if (statusCode !== 200) return unreadable(`it answered ${statusCode}`)
  return ok(await body.text())
}

function unreadable(message: string): Result<never> {
  return fail({ code: 'ARTIFACT_UNREADABLE', message: `The document cannot be fetched: ${message}.` })
}

function reasonOf(error: unknown): string {
  if (error instanceof RefusedAddressError) return error.message
  if (error instanceof Error && error.name === 'TimeoutError') return `no answer within ${TIMEOUT_MS / 1000} s`
  return error instanceof Error ? error.message : String(error)
}
