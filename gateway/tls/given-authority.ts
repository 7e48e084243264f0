/**
 * The authority from the configuration (`tls.ca`), read and checked as a whole: that it may sign, and that certificate and key
 * match.
 */
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import type { Result } from '../../engine/internal.ts'
import { messageOf } from '../errors/startup-error.ts'
import { readRegularFile } from '../runtime/regular-file.ts'

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

/** The fault, and in which of the two files it is. */
interface AuthorityFault {
  readonly file: keyof AuthorityFiles
  readonly reason: string
}

/** Does not check the expiry: the caller that signs with it checks `notAfter`. */
export function readGivenAuthority(files: AuthorityFiles): Result<GivenAuthority, AuthorityFault> {
  const certificate = parsed('certificate', files, (pem) => ({ pem, parsed: new X509Certificate(pem) }))
  if (!certificate.ok) return certificate
  const key = parsed('key', files, (pem) => createPrivateKey(pem))
  if (!key.ok) return key
  const { pem, parsed: authority } = certificate.value
  if (!authority.ca) return fault('certificate', 'it may not sign other certificates (it is not a CA)')
  if (!authority.checkPrivateKey(key.value)) return fault('certificate', `it does not belong to the key ${files.key}`)
  if (!isUsable(key.value)) return fault('key', 'it is neither EC P-256 nor RSA')
  const notAfter = authority.validToDate.getTime()
  return { ok: true, value: { pem, first: authority.toString(), key: key.value, notAfter } }
}

function parsed<T>(
  file: keyof AuthorityFiles,
  files: AuthorityFiles,
  parse: (pem: string) => T,
): Result<T, AuthorityFault> {
  try {
    return { ok: true, value: parse(readRegularFile(files[file], 'utf8')) }
  } catch (error) {
    return fault(file, `it holds no ${file === 'key' ? 'private key' : 'certificate'} in PEM (${messageOf(error)})`)
  }
}

function isUsable({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  return (
    asymmetricKeyType === 'rsa' || (asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1')
  )
}

function fault(file: keyof AuthorityFiles, reason: string): { readonly ok: false; readonly problem: AuthorityFault } {
  return { ok: false, problem: { file, reason } }
}
