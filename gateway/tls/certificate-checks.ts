/** Checks of certificates and keys that a schema cannot express: missing files, wrong content, a key that does not match. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { messageOf } from '../errors/startup-error.ts'
import { readGivenAuthority } from './given-authority.ts'
import type { Route } from '../routing/route.ts'
import { readListenerCertificate } from './listener-certificate.ts'
import type { TlsConfig, TlsSettings } from './settings.ts'
import type { LocatedMistake } from '../settings/schema-mistakes.ts'
import { accessProblem, CORRECT_PATH, mistakeAt } from '../settings/mistake-collector.ts'
import { assertNoSpecialFile, readRegularFile, statsOf } from '../runtime/regular-file.ts'

/** Reported at the start, not by the first connection that cannot be intercepted or the first call that cannot be forwarded. */
export function checkCertificateFiles({
  tls,
  routes,
}: TlsConfig & { readonly routes: readonly Route[] }): readonly LocatedMistake[] {
  return [
    ...checkAuthority(tls.ca),
    ...checkListeners(tls.listeners),
    ...routes.flatMap((route, index) => checkBundle(`/routes/${index}/tls/upstream_ca`, route.tls.upstream_ca)),
  ]
}

function checkAuthority(ca: TlsSettings['ca']): readonly LocatedMistake[] {
  if (ca === undefined) return []
  const missing = (['certificate', 'key'] as const).flatMap((name) => checkFile(`/tls/ca/${name}`, ca[name]))
  if (missing.length > 0) return missing
  const read = readGivenAuthority(ca)
  if (read.ok) return []
  const { file, reason } = read.problem
  return [
    mistakeAt(
      `/tls/ca/${file}`,
      `${ca[file]} cannot sign for intercepted hosts: ${reason}`,
      'name a CA and its own key',
    ),
  ]
}

function checkListeners(listeners: TlsSettings['listeners']): readonly LocatedMistake[] {
  return Object.entries(listeners).flatMap(([name, files]) => {
    const pointer = `/tls/listeners/${name}`
    const named = (['certificate', 'key', 'client_ca'] as const).flatMap((file) => {
      const path = files[file]
      return path === undefined ? [] : checkFile(`${pointer}/${file}`, path)
    })
    if (named.length > 0) return named
    const read = readListenerCertificate(files)
    if (read.ok) return []
    const { file, reason } = read.problem
    const fix = file === 'client_ca' ? 'name the authorities of the clients' : 'name a certificate and its own key'
    return [mistakeAt(`${pointer}/${file}`, `${files[file]} cannot be used: ${reason}`, fix)]
  })
}

/** An expired certificate does not prevent the start: its files may be replaced while the gateway runs. */
function listenerWarnings(listeners: TlsSettings['listeners']): readonly LocatedMistake[] {
  return Object.entries(listeners).flatMap(([name, files]) => {
    const read = readListenerCertificate(files)
    if (!read.ok || read.value.notAfter > Date.now()) return []
    const end = new Date(read.value.notAfter).toISOString()
    const message = `the certificate ${files.certificate} expired on ${end}, so no client accepts it`
    return [mistakeAt(`/tls/listeners/${name}/certificate`, message, 'replace its files')]
  })
}

/** An expired authority does not prevent the start: other routes do not need it. */
export function certificateWarnings({ tls: { ca, listeners } }: TlsConfig): readonly LocatedMistake[] {
  return [...listenerWarnings(listeners), ...authorityWarnings(ca)]
}

function authorityWarnings(ca: TlsSettings['ca']): readonly LocatedMistake[] {
  const read = ca === undefined ? null : readGivenAuthority(ca)
  if (ca === undefined || !read?.ok || read.value.notAfter > Date.now()) return []
  const end = new Date(read.value.notAfter).toISOString()
  const message = `the authority ${ca.certificate} expired on ${end}, so no host can be intercepted`
  return [mistakeAt('/tls/ca/certificate', message, 'replace its files')]
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

function checkBundle(pointer: string, file: string | undefined): readonly LocatedMistake[] {
  if (file === undefined) return []
  const missing = checkFile(pointer, file)
  if (missing.length > 0) return missing
  const fix = 'name a PEM file of the authorities that the certificate of the upstream may come from'
  let text = ''
  const unread = readFailure(() => {
    text = readRegularFile(file, 'utf8')
  })
  if (unread !== null) return [mistakeAt(pointer, `${file} cannot be read (${unread})`, fix)]
  const certificates = text.match(CERTIFICATE) ?? []
  if (certificates.length === 0) return [mistakeAt(pointer, `${file} holds no certificate in PEM`, fix)]
  return certificates.flatMap((pem, index) => {
    const fault = readFailure(() => new X509Certificate(pem))
    return fault === null
      ? []
      : [mistakeAt(pointer, `certificate ${index + 1} of ${file} cannot be read (${fault})`, fix)]
  })
}

/** A private key in PEM that signs as `RS256`, as platforms issue it for their apps. */
export function checkRsaKey(pointer: string, file: string): readonly LocatedMistake[] {
  const missing = checkFile(pointer, file)
  if (missing.length > 0) return missing
  const fault = readFailure(() => {
    const { asymmetricKeyType } = createPrivateKey(readRegularFile(file))
    if (asymmetricKeyType !== 'rsa') throw new Error(`its type is ${asymmetricKeyType}`)
  })
  const fix = 'name the file that the platform issued for the app'
  return fault === null ? [] : [mistakeAt(pointer, `${file} holds no RSA private key in PEM (${fault})`, fix)]
}

/** A file that is read later must be there and readable now. */
export function checkFile(pointer: string, file: string): readonly LocatedMistake[] {
  const isFolder = statsOf(file)?.isDirectory() === true
  const fault = isFolder ? 'it is a folder' : readFailure(() => assertNoSpecialFile(file))
  const message = accessProblem(file) ?? (fault === null ? null : `${file} cannot be read (${fault})`)
  return message === null ? [] : [mistakeAt(pointer, message, CORRECT_PATH)]
}

function readFailure(read: () => unknown): string | null {
  try {
    read()
    return null
  } catch (error) {
    return messageOf(error)
  }
}
