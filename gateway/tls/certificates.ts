/**
 * Makes certificates: an authority of our own, and leaves for single hosts. The only file that loads the X.509 library; it is
 * imported when a certificate is first needed, never at the start.
 */
import 'reflect-metadata'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'
import { createPrivateKey, webcrypto, type KeyObject } from 'node:crypto'
import { isIP } from 'node:net'

const EC = { name: 'ECDSA', namedCurve: 'P-256' } as const
const DAY_MS = 86_400_000
/** Clocks of agents may be behind. */
const BACKDATED_MS = 3_600_000
const AUTHORITY_DAYS = 730
/** Common names are at most 64 characters (RFC 5280, ub-common-name); the host counts in the alternative name. */
const LONGEST_COMMON_NAME = 64

interface NewAuthority {
  /** PEM. */
  readonly certificate: string
  /** PEM, PKCS #8. */
  readonly key: string
}

/** A self-signed authority that may sign leaves and nothing else. `now`: milliseconds since the epoch. */
export async function makeAuthority(now: number, days = AUTHORITY_DAYS): Promise<NewAuthority> {
  const keys = await webcrypto.subtle.generateKey(EC, true, ['sign', 'verify'])
  const identifier = await SubjectKeyIdentifierExtension.create(keys.publicKey)
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [`Preflight Gateway ${identifier.keyId.slice(0, 12)}`] }, { O: ['Preflight Gateway'] }],
    notBefore: new Date(now - BACKDATED_MS),
    notAfter: new Date(now + days * DAY_MS),
    keys,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      identifier,
    ],
  })
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey))
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  return { certificate: certificate.toString('pem'), key: key.export({ type: 'pkcs8', format: 'pem' }).toString() }
}

export interface LeafRequest {
  /** A name, or an address without brackets. */
  readonly host: string
  /** Further names that it is for. */
  readonly alsoFor?: readonly string[]
  /** SPKI, DER. */
  readonly publicKey: Buffer
  /** Milliseconds since the epoch. */
  readonly notBefore: number
  readonly notAfter: number
}

/** A certificate for one host, signed by the authority. PEM. */
export async function makeLeaf(
  authority: { readonly certificate: string; readonly key: KeyObject },
  { host, alsoFor = [], publicKey, notBefore, notAfter }: LeafRequest,
): Promise<string> {
  const issuer = new X509Certificate(authority.certificate)
  const identifier = issuer.getExtension(SubjectKeyIdentifierExtension)
  const leafKey = await webcrypto.subtle.importKey('spki', publicKey, EC, true, ['verify'])
  const signing = signingKey(authority.key)
  const certificate = await X509CertificateGenerator.create({
    subject: host.length <= LONGEST_COMMON_NAME ? [{ CN: [host] }] : [{ O: ['Preflight Gateway'] }],
    issuer: issuer.subjectName,
    notBefore: new Date(notBefore),
    notAfter: new Date(notAfter),
    publicKey: leafKey,
    signingKey: signing,
    signingAlgorithm: { name: signing.algorithm.name, hash: 'SHA-256' },
    extensions: [
      new SubjectAlternativeNameExtension(
        [host, ...alsoFor].map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value })),
      ),
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      await SubjectKeyIdentifierExtension.create(leafKey),
      identifier === null
        ? await AuthorityKeyIdentifierExtension.create(issuer.publicKey)
        : new AuthorityKeyIdentifierExtension(identifier.keyId),
    ],
  })
  return certificate.toString('pem')
}

/** EC P-256 and RSA keys, as their authority has them. Throws for any other. */
function signingKey(key: KeyObject): webcrypto.CryptoKey {
  if (key.asymmetricKeyType === 'rsa')
    return key.toCryptoKey({ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, false, ['sign'])
  return key.toCryptoKey(EC, false, ['sign'])
}
