/**
 * The keys of the token issuer, from a file or an address. Kept for minutes, and read again for an unknown key id, but not more
 * often than a bound: a caller chooses the key id of its token.
 */
import { createLocalJWKSet } from 'jose/jwks/local'
import type { CryptoKey, FlattenedJWSInput, JSONWebKeySet, JWSHeaderParameters } from 'jose'
import { GatewayError } from '../errors/errors.ts'
import { openAgent, request, type Agent } from '../network/undici.ts'
import { readRegularFile } from '../runtime/regular-file.ts'
import type { HubSettings } from './settings.ts'

export interface IssuerKeys {
  /** The key of a token. Rejects with an error of jose when there is none, and with STORE_UNAVAILABLE when the keys are out of reach. */
  find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey>
  close(): Promise<void>
}

type KeySource = NonNullable<HubSettings['tokens']>
type FindKey = ReturnType<typeof createLocalJWKSet>

/** Milliseconds that a key set is used before it is read again. */
const KEPT_FOR = 300_000
/** Minimum milliseconds between two readings. */
const PAUSE = 5000
const TIMEOUT = 5000
const MAX_BYTES = 1_048_576

/** @param now milliseconds since the epoch */
export function openIssuerKeys(source: KeySource, now: () => number): IssuerKeys {
  const agent = /^https?:/.test(source.keys) ? issuerAgent(source) : null
  let kept: { readonly find: FindKey; readonly readAt: number } | null = null
  let reading: Promise<FindKey> | null = null
  const load = async (): Promise<FindKey> => {
    const find = createLocalJWKSet(keySetIn(await keySetText(source, agent)))
    kept = { find, readAt: now() }
    return find
  }
  const read = (): Promise<FindKey> => (reading ??= load().finally(() => (reading = null)))
  const current = async (): Promise<FindKey> => {
    if (kept !== null && now() - kept.readAt < KEPT_FOR) return kept.find
    try {
      return await read()
    } catch (error) {
      // The keys of an issuer change rarely: an old set is better than no caller at all while the issuer is away.
      if (kept !== null) return kept.find
      throw new GatewayError('STORE_UNAVAILABLE', 'The keys of the token issuer cannot be read.', { cause: error })
    }
  }
  return {
    async find(header, token) {
      const find = await current()
      try {
        return await find(header, token)
      } catch (error) {
        if (kept === null || now() - kept.readAt < PAUSE) throw error
        return await (
          await read()
        )(header, token)
      }
    },
    close: async () => {
      await agent?.destroy()
    },
  }
}

function issuerAgent({ ca_file: ca }: KeySource): Agent {
  return openAgent({
    connect: { timeout: TIMEOUT, ...(ca !== undefined && { ca: readRegularFile(ca, 'utf8') }) },
    maxResponseSize: MAX_BYTES,
    headersTimeout: TIMEOUT,
    bodyTimeout: TIMEOUT,
  })
}

async function keySetText({ keys, token_file: tokenFile }: KeySource, dispatcher: Agent | null): Promise<string> {
  if (dispatcher === null) return readRegularFile(keys, 'utf8')
  const authorization =
    tokenFile === undefined ? {} : { authorization: `Bearer ${readRegularFile(tokenFile, 'utf8').trim()}` }
  const answer = await request(new URL(keys), {
    dispatcher,
    method: 'GET',
    signal: AbortSignal.timeout(TIMEOUT),
    headers: { accept: 'application/jwk-set+json, application/json', ...authorization },
  })
  const text = await answer.body.text()
  if (answer.statusCode !== 200) throw new Error(`${keys} answered ${answer.statusCode}`)
  return text
}

function keySetIn(text: string): JSONWebKeySet {
  const value: unknown = JSON.parse(text)
  if (!isKeySet(value)) throw new Error('it is not a JWK Set')
  return value
}

function isKeySet(value: unknown): value is JSONWebKeySet {
  return typeof value === 'object' && value !== null && 'keys' in value && Array.isArray(value.keys)
}
