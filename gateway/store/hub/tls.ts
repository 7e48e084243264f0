/**
 * TLS of a sidecar to its hub: the authorities and the client certificate are read at each connection, since clusters replace
 * them while the pod runs. What a failed handshake means, and how to repair it.
 */
import { openConnector, type Connector } from '../../network/undici.ts'
import { readRegularFile } from '../../runtime/regular-file.ts'
import type { StoreSettings } from '../settings.ts'

export type HubAccess = StoreSettings['hub']

/** Connects with the files as they are now. Files that cannot be read are an error of the connection. */
export function hubConnector(access: HubAccess): Connector {
  let known: { readonly files: HubFiles; readonly connect: Connector } | null = null
  return (options, callback) => {
    let files: HubFiles
    try {
      files = readHubFiles(access)
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)), null)
      return
    }
    // One connector resumes TLS sessions, which may not outlive the certificates that they began with.
    if (known === null || !isSameFiles(known.files, files))
      known = { files, connect: openConnector({ timeout: access.timeout * 1000, ...files }) }
    known.connect(options, callback)
  }
}

interface HubFiles {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

function readHubFiles({ ca_file: ca, certificate, certificate_key: key }: HubAccess): HubFiles {
  return {
    ...(ca !== undefined && { ca: readRegularFile(ca, 'utf8') }),
    ...(certificate !== undefined && { cert: readRegularFile(certificate, 'utf8') }),
    ...(key !== undefined && { key: readRegularFile(key, 'utf8') }),
  }
}

function isSameFiles(one: HubFiles, other: HubFiles): boolean {
  return one.ca === other.ca && one.cert === other.cert && one.key === other.key
}

/** What to do about an error code of a handshake; the first row that fits counts. */
const REMEDIES: readonly (readonly [RegExp, (access: HubAccess) => string])[] = [
  [
    /^(?:UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_SIGNATURE_|ERR_SSL_.*(?:VERIFY|UNKNOWN_CA))/,
    ({ ca_file: ca }) =>
      ca === undefined
        ? 'No public authority certifies the hub. Name the PEM file of its authority with store.hub.ca_file.'
        : `No authority in ${ca} (store.hub.ca_file) certifies the hub. Put the certificate of its authority there.`,
  ],
  [
    /^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)/,
    () => 'Renew the certificate of the hub (tls.listeners.hub.certificate), and check the clock here.',
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID/,
    () => 'Write a name of that certificate in store.url, or issue the certificate for the host in store.url.',
  ],
  [
    /^(?:EPROTO|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG)/,
    () => 'Check the port in store.url: https:// needs a hub with tls.listeners.hub.',
  ],
  [
    /^(?:ENOENT|EACCES|EISDIR|ERR_OSSL_)/,
    () => 'Check the files that store.hub names: token_file or key_file, ca_file, certificate, certificate_key.',
  ],
]

/** What repairs the settings; null: the error is of no known kind. */
export function tlsRemedy(code: string, access: HubAccess): string | null {
  return REMEDIES.find(([pattern]) => pattern.test(code))?.[1](access) ?? null
}
