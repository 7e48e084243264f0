/** The certificate that a listener presents, read and checked with its key and the authorities of its clients. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { Result } from '../../engine/internal.ts'
import { pemFault, readPem, type PemFault } from './pem-file.ts'
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

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** Does not check the expiry: a listener with an expired certificate still tells its clients why. */
export function readListenerCertificate(
  files: ListenerTls,
): Result<ListenerCertificate, PemFault<'certificate' | 'key' | 'client_ca'>> {
  const cert = readPem('certificate', files.certificate, (pem) => ({ pem, leaf: new X509Certificate(pem) }))
  if (!cert.ok) return cert
  const key = readPem('key', files.key, (pem) => ({ pem, own: createPrivateKey(pem) }))
  if (!key.ok) return key
  const { pem, leaf } = cert.value
  if (!leaf.checkPrivateKey(key.value.own)) return pemFault('certificate', `it does not belong to the key ${files.key}`)
  const authorities = files.client_ca === undefined ? null : readPem('client_ca', files.client_ca, authoritiesIn)
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
