/** A contract at a URL together with the files that its `$ref`s name, of the same origin or a listed one, as one text. */
import { fail, ok } from '../../engine/base.ts'
import type { Result } from '../../engine/internal.ts'
import type { FetchedDocument } from '../network/fetch.ts'
import { bundle, type Bundle } from './bundle.ts'
import { isAddress } from './file-references.ts'
import type { FileTexts } from './referenced-files.ts'
import type { FileTerms } from './contract-files.ts'

interface AddressTerms extends FileTerms {
  /** Reads one document, of at most so many bytes, from addresses that may be asked only. */
  readonly fetch: (url: string, maxBytes: number) => Promise<Result<FetchedDocument>>
  /** Further origins that files may be fetched from; absent: the document's own only. */
  readonly origins?: readonly string[]
}

/** Files that one contract may be fetched in. */
const MAX_FILES = 200

/**
 * References, relative and absolute ones, are resolved as URLs (RFC 3986 §5.2) and followed within the origin of the document and the origins
 * that are listed. One that cannot be fetched stays unresolved, so that the comparison is not complete and names it.
 */
export async function contractAtAddress(address: string, terms: AddressTerms): Promise<Result<Bundle>> {
  const first = await terms.fetch(address, terms.maxBytes)
  if (!first.ok) return first
  const url = new URL(first.value.address)
  let fetched = 0
  return bundle(addressPath(url), first.value.text, {
    ...terms,
    origin: url.origin,
    async read(paths, maxBytes): Promise<Result<FileTexts>> {
      fetched += paths.length
      if (fetched > MAX_FILES) return tooMany(address)
      const texts = new Map<string, string>()
      let left = maxBytes
      for (const path of paths) {
        const found = path.startsWith('../') ? null : await terms.fetch(addressAt(path, url), left)
        if (found === null || !found.ok) continue
        const { text, address: answered } = found.value
        // Its own references would start elsewhere than its name says.
        if (!isOfOrigin(answered, url, terms.origins)) continue
        texts.set(path, text)
        left -= Buffer.byteLength(text)
        if (left <= 0) return tooLong(address, terms.maxBytes)
      }
      return ok(texts)
    },
  })
}

function isOfOrigin(address: string, { origin }: URL, origins: readonly string[] = []): boolean {
  const answered = new URL(address).origin
  return answered === origin || origins.includes(answered)
}

/** From the root of the origin; an address that ends with a slash is a document in that folder. */
function addressPath({ pathname }: URL): string {
  const path = decodeURIComponent(pathname.slice(1))
  return path === '' || path.endsWith('/') ? `${path}index` : path
}

function addressAt(path: string, { origin }: URL): string {
  return isAddress(path) ? path : `${origin}/${path.split('/').map(encodeURIComponent).join('/')}`
}

function tooMany(address: string): Result<never> {
  const message = `The contract at ${new URL(address).host} refers to more than ${MAX_FILES} files: bundle it into one.`
  return fail({ code: 'ARTIFACT_OVER_LIMIT', message })
}

function tooLong(address: string, maxBytes: number): Result<never> {
  const message = `The contract at ${new URL(address).host} and the files that it refers to have more than ${maxBytes} bytes.`
  return fail({ code: 'ARTIFACT_OVER_LIMIT', message })
}
