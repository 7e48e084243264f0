/** A contract at a URL together with the files of the same origin that its `$ref`s name, as one text. */
import { fail, ok } from '../../engine/base.ts'
import type { Result } from '../../engine/index.ts'
import { bundle, type Bundle } from '../scm/bundle.ts'
import type { FileTexts } from '../scm/referenced-files.ts'
import type { FileTerms } from './contract-files.ts'

export interface AddressTerms extends FileTerms {
  /** Reads one document, of at most so many bytes, from addresses that may be asked only. */
  readonly fetch: (url: string, maxBytes: number) => Promise<Result<string>>
}

/** Files that one contract may be fetched in. */
const MAX_FILES = 200

/**
 * References, relative and absolute ones, are resolved as URLs (RFC 3986 §5.2) and followed within the origin of the document. One that cannot be fetched stays
 * unresolved, so that the comparison is not complete and names it.
 */
export async function contractAtAddress(address: string, terms: AddressTerms): Promise<Result<Bundle>> {
  const url = new URL(address)
  const text = await terms.fetch(address, terms.maxBytes)
  if (!text.ok) return text
  let fetched = 0
  return bundle(pathOf(url), text.value, {
    ...terms,
    origin: url.origin,
    async read(paths, maxBytes): Promise<Result<FileTexts>> {
      fetched += paths.length
      if (fetched > MAX_FILES) return tooMany(address)
      const texts = new Map<string, string>()
      let left = maxBytes
      for (const path of paths) {
        const found = path.startsWith('../') ? null : await terms.fetch(addressOf(path, url), left)
        if (found === null || !found.ok) continue
        texts.set(path, found.value)
        left -= Buffer.byteLength(found.value)
        if (left <= 0) return tooLong(address, terms.maxBytes)
      }
      return ok(texts)
    },
  })
}

/** From the root of the origin; an address that ends with a slash is a document in that folder. */
function pathOf({ pathname }: URL): string {
  const path = decodeURIComponent(pathname.slice(1))
  return path === '' || path.endsWith('/') ? `${path}index` : path
}

function addressOf(path: string, { origin }: URL): string {
  return `${origin}/${path.split('/').map(encodeURIComponent).join('/')}`
}

function tooMany(address: string): Result<never> {
  const message = `The contract at ${new URL(address).host} refers to more than ${MAX_FILES} files: bundle it into one.`
  return fail({ code: 'ARTIFACT_OVER_LIMIT', message })
}

function tooLong(address: string, maxBytes: number): Result<never> {
  const message = `The contract at ${new URL(address).host} and the files that it refers to have more than ${maxBytes} bytes.`
  return fail({ code: 'ARTIFACT_OVER_LIMIT', message })
}
