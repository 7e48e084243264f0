/** The certificate that a listener presents, read and checked with its key and the authorities of its clients. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { Result } from '../../engine/internal.ts'
import { messageOf } from '../errors/startup-error.ts'
import { readRegularFile } from '../runtime/regular-file.ts'
import type { ListenerTls } from './settings.ts'

export interface ListenerCertificate {
  /** PEM: the certificate and its chain. */
  readonly cert: string
  /** PEM. */
  readonly key: string
  /** PEM; null: clients need no certificate. */
  readonly clientCa: string | null
  /** Milliseconds since the epoch. */
  readonly notAfter: number
}

/** The fault, and in which of the files it is. */
interface ListenerCertificateFault {
  readonly file: 'certificate' | 'key' | 'client_ca'
  readonly reason: string
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** Does not check the expiry: a listener with an expired certificate still tells its clients why. */
export function readListenerCertificate(files: ListenerTls): Result<ListenerCertificate, ListenerCertificateFault> {
  const cert = parsed('certificate', files.certificate, (pem) => ({ pem, leaf: new X509Certificate(pem) }))
  if (!cert.ok) return cert
  const key = parsed('key', files.key, (pem) => ({ pem, own: createPrivateKey(pem) }))
  if (!key.ok) return key
  const { pem, leaf } = cert.value
  if (!leaf.checkPrivateKey(key.value.own)) return fault('certificate', `it does not belong to the key ${files.key}`)
  const authorities = files.client_ca === undefined ? null : parsed('client_ca', files.client_ca, authoritiesIn)
  if (authorities !== null && !authorities.ok) return authorities
  const clientCa = authorities?.value ?? null
  return { ok: true, value: { cert: pem, key: key.value.pem, clientCa, notAfter: leaf.validToDate.getTime() } }
}

function authoritiesIn(pem: string): string {
  const certificates = pem.match(CERTIFICATE) ?? []
  if (certificates.length === 0) throw new Error('there is none')
  for (const certificate of certificates)
    if (!new X509Certificate(certificate).ca) throw new Error('one of them is not a CA')
  return pem
}

function parsed<T>(
  file: ListenerCertificateFault['file'],
  path: string,
  parse: (pem: string) => T,
): Result<T, ListenerCertificateFault> {
  try {
    return { ok: true, value: parse(readRegularFile(path, 'utf8')) }
  } catch (error) {
    const content = { certificate: 'certificate', key: 'private key', client_ca: 'usable authorities' }[file]
    return fault(file, `it holds no ${content} in PEM (${messageOf(error)})`)
  }
}

function fault(
  file: ListenerCertificateFault['file'],
  reason: string,
): { readonly ok: false; readonly problem: ListenerCertificateFault } {
  return { ok: false, problem: { file, reason } }
}
