/**
 * The authority from the configuration (`tls.ca`), read and checked as a whole: that it may sign, and that certificate and key
 * match.
 */
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import type { Result } from '../../engine/internal.ts'
import { pemFault, readPem, type PemFault } from './pem-file.ts'

interface AuthorityFiles {
  readonly certificate: string
  readonly key: string
}

export interface GivenAuthority {
  /** The whole file: the authority, and the chain to a trusted certificate. */
  readonly pem: string
  /** PEM of the authority alone. */
  readonly first: string
  readonly key: KeyObject
  /** Milliseconds since the epoch. */
  readonly notAfter: number
}

/** Does not check the expiry: the caller that signs with it checks `notAfter`. */
export function readGivenAuthority(files: AuthorityFiles): Result<GivenAuthority, PemFault<keyof AuthorityFiles>> {
  const certificate = readPem('certificate', files.certificate, (pem) => ({ pem, parsed: new X509Certificate(pem) }))
  if (!certificate.ok) return certificate
  const key = readPem('key', files.key, (pem) => createPrivateKey(pem))
  if (!key.ok) return key
  const { pem, parsed: authority } = certificate.value
  if (!authority.ca) return pemFault('certificate', 'it may not sign other certificates (it is not a CA)')
  if (!authority.checkPrivateKey(key.value))
    return pemFault('certificate', `it does not belong to the key ${files.key}`)
  if (!isUsable(key.value)) return pemFault('key', 'it is neither EC P-256 nor RSA')
  const notAfter = authority.validToDate.getTime()
  return { ok: true, value: { pem, first: authority.toString(), key: key.value, notAfter } }
}

function isUsable({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  return (
    asymmetricKeyType === 'rsa' || (asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1')
  )
}
