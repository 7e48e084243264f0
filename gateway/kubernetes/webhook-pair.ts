/**
 * The self-signed pair of the webhooks and the hub: when it is made, when the next one is prepared, and when that takes over.
 * Clients trust the authority of the next pair long before it is used, so nothing fails at the change. Decides and makes
 * texts; reads and writes nothing.
 */
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { makeAuthority, makeLeaf } from '../tls/certificates.ts'

/** Members of the Secret, PEM. The chart mounts `tls.crt` and `tls.key`; clients trust `ca.crt`. */
export type PairTexts = Readonly<Record<string, string>>

interface PairTerms {
  /** Names that the certificate is for. */
  readonly hosts: readonly string[]
  /** Life of a pair. The next one is prepared in its last third, and takes over in its last sixth. */
  readonly days: number
  /** Milliseconds since the epoch. */
  readonly now: number
}

interface RotatedPair {
  readonly change: 'made' | 'prepared' | 'replaced' | 'kept'
  readonly texts: PairTexts
  /** Milliseconds since the epoch: the pair in use ends. */
  readonly endsAt: number
}

interface CertifiedPair {
  readonly certificate: string
  readonly key: string
  readonly authority: string
  readonly endsAt: number
}

const DAY_MS = 86_400_000
const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** @param texts what the Secret holds; empty when there is none */
export async function rotatedPair(texts: PairTexts, terms: PairTerms): Promise<RotatedPair> {
  const { now, days } = terms
  const authorities = (texts['ca.crt'] ?? '').match(BLOCK) ?? []
  const current = usablePair(texts['tls.crt'], texts['tls.key'], authorities, terms)
  const next = usablePair(texts['next.crt'], texts['next.key'], authorities, terms)
  const isDue = (part: number): boolean => current === null || current.endsAt - now < (days * DAY_MS) / part
  if (next !== null && isDue(6)) return rotated('replaced', next, null, current === null ? [] : [current.authority])
  if (current === null) return rotated('made', await makePair(terms), null, [])
  if (next === null && isDue(3)) return rotated('prepared', current, await makePair(terms), [])
  return { change: 'kept', texts, endsAt: current.endsAt }
}

function rotated(
  change: RotatedPair['change'],
  { certificate, key, authority, endsAt }: CertifiedPair,
  next: CertifiedPair | null,
  before: readonly string[],
): RotatedPair {
  const trusted = [authority, ...(next === null ? [] : [next.authority]), ...before]
  const texts = {
    'tls.crt': certificate,
    'tls.key': key,
    'ca.crt': `${trusted.map((one) => one.trim()).join('\n')}\n`,
    ...(next !== null && { 'next.crt': next.certificate, 'next.key': next.key }),
  }
  return { change, texts, endsAt }
}

async function makePair({ hosts, days, now }: PairTerms): Promise<CertifiedPair> {
  const { certificate: authority, key: signingKey } = await makeAuthority(now, days)
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const [host = '', ...alsoFor] = hosts
  const certificate = await makeLeaf(
    { certificate: authority, key: createPrivateKey(signingKey) },
    {
      host,
      alsoFor,
      publicKey: keys.publicKey.export({ type: 'spki', format: 'der' }),
      // Clocks of API servers may be behind. The authority begins at the same time.
      notBefore: now - 3_600_000,
      notAfter: now + days * DAY_MS,
    },
  )
  const key = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { certificate, key, authority, endsAt: now + days * DAY_MS }
}

/** Null: something is missing or cannot be read, the parts do not fit, a name is missing, or it is not in force. */
function usablePair(
  certificate: string | undefined,
  key: string | undefined,
  authorities: readonly string[],
  { hosts, now }: PairTerms,
): CertifiedPair | null {
  if (certificate === undefined || key === undefined) return null
  try {
    const leaf = new X509Certificate(certificate)
    const authority = authorities.find((one) => hasSigned(new X509Certificate(one), leaf))
    const isGood =
      leaf.checkPrivateKey(createPrivateKey(key)) &&
      hosts.every((host) => leaf.checkHost(host) !== undefined) &&
      leaf.validFromDate.getTime() <= now &&
      leaf.validToDate.getTime() > now
    if (!isGood || authority === undefined) return null
    return { certificate, key, authority, endsAt: leaf.validToDate.getTime() }
  } catch {
    return null
  }
}

function hasSigned(authority: X509Certificate, leaf: X509Certificate): boolean {
  return leaf.checkIssued(authority) && leaf.verify(authority.publicKey)
}
