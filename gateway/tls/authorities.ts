/**
 * The authority that signs the certificates for agents: from the configuration, or made here when first needed and kept in the
 * data directory. A new one is published before it signs, so that agents can trust it in time.
 */
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import type { TlsSettings } from './settings.ts'
import { StartupError } from '../errors/startup-error.ts'
import { authorityFile, readAuthorityFile, writeAuthorityFile, type StoredAuthority } from './authority-file.ts'
import { statsOf } from '../runtime/regular-file.ts'
import { readGivenAuthority, type GivenAuthority } from './given-authority.ts'

/** The signing authority. */
export interface SigningAuthority {
  /** PEM of the signing certificate. */
  readonly certificate: string
  /** PEM of the intermediate certificates that are sent with a leaf; empty when agents trust this authority itself. */
  readonly chain: string
  readonly key: KeyObject
  /** Milliseconds since the epoch. */
  readonly notAfter: number
  /** Changes with the certificate: the leaves of different certificates are distinguished by it. */
  readonly id: string
}

/** An authority as it is published. */
export interface PublishedAuthority {
  /** PEM. */
  readonly certificate: string
  /**
   * `next`: already to be trusted, signs from `signsFrom` on. `retired`: no longer signs, but some of its leaves are still
   * valid.
   */
  readonly status: 'next' | 'signing' | 'retired'
  /** Milliseconds since the epoch; null when the configuration gives the authority. */
  readonly signsFrom: number | null
}

export interface Authorities {
  /** The one that signs now. Rejects with a StartupError when there is none, or when it has expired. */
  signing(): Promise<SigningAuthority>
  /** All to be trusted, oldest first. */
  published(): Promise<readonly PublishedAuthority[]>
  /** The same as one PEM text. */
  bundle(): Promise<string>
  /**
   * Makes a new one.
   * @param overlapSeconds how long it is published before it signs
   */
  rotate(overlapSeconds: number): Promise<void>
}

interface AuthoritiesDeps {
  readonly dataDir: string
  readonly ca: TlsSettings['ca']
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Files of tls.ca that changed and cannot be used; the authority in force stays. Absent: not reported. */
  readonly onUnusable?: (file: string, reason: string) => void
}

/** Longest validity of a leaf; an authority that no longer signs is published until its last leaf has expired. */
export const LEAF_LIFE_MS = 24 * 3_600_000

export function createAuthorities(deps: AuthoritiesDeps): Authorities {
  return deps.ca === undefined ? ownAuthorities(deps) : givenAuthority(deps.ca, deps)
}

function ownAuthorities({ dataDir, now }: AuthoritiesDeps): Authorities {
  const file = authorityFile(dataDir)
  const read = fileReader(file)
  let making: Promise<readonly StoredAuthority[]> | null = null

  const add = async (known: readonly StoredAuthority[], signsFrom: number): Promise<readonly StoredAuthority[]> => {
    const { makeAuthority } = await import('./certificates.ts')
    const made = await makeAuthority(now())
    const all = [...stillOfUse(known, now()), { ...made, signs_from: signsFrom }]
    writeAuthorityFile(file, all)
    return all
  }
  const stored = async (): Promise<readonly StoredAuthority[]> => {
    const known = read()
    if (known.length > 0) return known
    // Two simultaneous first uses must not make two authorities.
    making ??= add([], Math.floor(now() / 1000)).finally(() => {
      making = null
    })
    return making
  }

  const published = async (): Promise<readonly PublishedAuthority[]> => {
    const all = await stored()
    const current = signingAt(all, now())
    return stillOfUse(all, now()).map(({ certificate, signs_from }) => ({
      certificate,
      signsFrom: signs_from * 1000,
      status: certificate === current?.certificate ? 'signing' : signs_from * 1000 > now() ? 'next' : 'retired',
    }))
  }

  return {
    async signing() {
      const current = signingAt(await stored(), now())
      if (current?.key == null)
        throw new StartupError(`No authority in ${file} signs now. Make one with: preflight ca rotate --overlap 0`)
      return usable(current.certificate, '', createPrivateKey(current.key), now())
    },
    published,
    bundle: async () => bundleOf(await published()),
    async rotate(overlapSeconds) {
      const known = await stored()
      await add(known, Math.floor(now() / 1000) + overlapSeconds)
    },
  }
}

function bundleOf(authorities: readonly Pick<PublishedAuthority, 'certificate'>[]): string {
  return authorities.map(({ certificate }) => `${certificate.trim()}\n`).join('')
}

/** Reads the file again when it has changed: the command line rotates while a gateway runs. */
function fileReader(file: string): () => readonly StoredAuthority[] {
  let seen: { readonly stamp: string; readonly authorities: readonly StoredAuthority[] } | null = null
  return () => {
    const stamp = stampOf(file)
    if (seen?.stamp !== stamp) seen = { stamp, authorities: readAuthorityFile(file) }
    return seen.authorities
  }
}

function stampOf(file: string): string {
  const stats = statsOf(file)
  return stats === null ? '' : `${stats.mtimeMs} ${stats.size} ${stats.ino}`
}

function signingAt(authorities: readonly StoredAuthority[], now: number): StoredAuthority | undefined {
  return authorities.findLast(({ signs_from }) => signs_from * 1000 <= now)
}

/** Without those whose last leaf has expired; the private key of a retired authority is deleted at the next rotation. */
function stillOfUse(authorities: readonly StoredAuthority[], now: number): readonly StoredAuthority[] {
  return authorities.flatMap((authority, index) => {
    const next = authorities.slice(index + 1).find(({ signs_from }) => signs_from * 1000 <= now)
    if (next === undefined) return [authority]
    return next.signs_from * 1000 + LEAF_LIFE_MS <= now ? [] : [{ ...authority, key: null }]
  })
}

/** Follows its files: another authority signs from the next certificate on, for hosts that have one too. */
function givenAuthority(
  files: NonNullable<AuthoritiesDeps['ca']>,
  { now, onUnusable }: Pick<AuthoritiesDeps, 'now' | 'onUnusable'>,
): Authorities {
  let loaded: GivenAuthority | null = null
  let seen = ''
  const load = (): GivenAuthority => {
    const stamp = `${stampOf(files.certificate)} ${stampOf(files.key)}`
    if (loaded !== null && stamp === seen) return loaded
    seen = stamp
    const read = readGivenAuthority(files)
    if (read.ok) return (loaded = read.value)
    const { file, reason } = read.problem
    if (loaded === null)
      throw new StartupError(`The authority ${files[file]} (tls.ca.${file}) cannot be used: ${reason}.`)
    // While files are replaced they may not fit together.
    onUnusable?.(files[file], reason)
    return loaded
  }
  return {
    async signing() {
      const { pem, first, key } = load()
      return usable(first, pem, key, now())
    },
    published: async () => [{ certificate: load().pem, status: 'signing', signsFrom: null }],
    bundle: async () => bundleOf([{ certificate: load().pem }]),
    rotate: () =>
      Promise.reject(new StartupError('The authority is given by tls.ca of the configuration: replace its files.')),
  }
}

function usable(certificate: string, chain: string, key: KeyObject, now: number): SigningAuthority {
  const { validToDate, fingerprint256 } = new X509Certificate(certificate)
  const notAfter = validToDate.getTime()
  if (notAfter > now) return { certificate, chain, key, notAfter, id: fingerprint256 }
  throw new StartupError(
    `The certificate authority expired on ${validToDate.toISOString()}. Make a new one with: preflight ca rotate --overlap 0`,
  )
}
