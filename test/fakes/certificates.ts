/** Certificates for servers of tests: an authority of the test's own, and a leaf for the names that it needs. */
import 'reflect-metadata'
import {
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
  type JsonGeneralName,
} from '@peculiar/x509'
import { generateKeyPairSync, webcrypto, type KeyObject } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPrivateKey } from 'node:crypto'
import { makeAuthority, makeLeaf } from '../../gateway/tls/certificates.ts'

export interface TestAuthority {
  /** PEM file of its certificate, for clients. */
  readonly file: string
  readonly keyFile: string
  readonly certificate: string
  readonly key: KeyObject
  /** @param endsAt milliseconds since the epoch; default: in a day */
  leaf(host: string, endsAt?: number): Promise<Leaf>
  /** For the client of a listener that asks for a certificate. */
  clientLeaf(name: string, details?: ClientDetails): Promise<Leaf>
}

interface ClientDetails {
  /** Default: `CN=NAME`. */
  readonly subject?: string
  readonly names?: readonly JsonGeneralName[]
  /** Milliseconds since the epoch; default: in a day. */
  readonly endsAt?: number
}

const DAY = 86_400_000

interface Leaf {
  /** PEM. */
  readonly cert: string
  readonly key: string
}

/** @param madeAt milliseconds since the epoch; long ago makes one that has ended */
export async function testAuthority(madeAt = Date.now()): Promise<TestAuthority> {
  const { certificate, key } = await makeAuthority(madeAt)
  const directory = mkdtempSync(join(tmpdir(), 'preflight-ca-'))
  const file = join(directory, 'ca.pem')
  const keyFile = join(directory, 'ca-key.pem')
  writeFileSync(file, certificate)
  writeFileSync(keyFile, key, { mode: 0o600 })
  const signing = { certificate, key: createPrivateKey(key) }
  return {
    ...signing,
    file,
    keyFile,
    async leaf(host, endsAt = Date.now() + DAY) {
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const publicKey = pair.publicKey.export({ type: 'spki', format: 'der' })
      const life = { notBefore: Math.min(Date.now(), endsAt) - 60_000, notAfter: endsAt }
      const cert = await makeLeaf(signing, { host, publicKey, ...life })
      return { cert, key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
    },
    clientLeaf: (name, details = {}) => makeClientLeaf(signing, name, details),
  }
}

async function makeClientLeaf(
  { certificate, key }: { readonly certificate: string; readonly key: KeyObject },
  name: string,
  { subject = `CN=${name}`, names = [], endsAt = Date.now() + DAY }: ClientDetails,
): Promise<Leaf> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' } as const
  const pair = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const pkcs8 = key.export({ type: 'pkcs8', format: 'der' })
  const made = await X509CertificateGenerator.create({
    subject,
    issuer: new X509Certificate(certificate).subject,
    notBefore: new Date(Math.min(Date.now(), endsAt) - 60_000),
    notAfter: new Date(endsAt),
    publicKey: pair.publicKey,
    signingKey: await webcrypto.subtle.importKey('pkcs8', pkcs8, algorithm, false, ['sign']),
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth]),
      ...(names.length === 0 ? [] : [new SubjectAlternativeNameExtension([...names])]),
    ],
  })
  const own = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', pair.privateKey))
  return {
    cert: made.toString('pem'),
    key: `-----BEGIN PRIVATE KEY-----\n${own.toString('base64')}\n-----END PRIVATE KEY-----\n`,
  }
}
