/** `base` and `head` of a diff (docs/reference/api.md#post-apidiff): a URL, `<ref>:<path>` in the configured repository with the files that it refers to, or the document itself. */
import { ok } from '../../engine/base.ts'
import type { Result } from '../../engine/internal.ts'
import type { DocumentsConfig } from '../documents/settings.ts'
import type { LimitsConfig } from '../settings/limits.ts'
import { readGitDocument } from '../documents/git-document.ts'
import { referencedFiles, type FileShelf } from '../documents/referenced-files.ts'
import { parseGitReference, type GitReference } from '../documents/git.ts'
import { contractAtAddress } from '../documents/contract-addresses.ts'
import { fetchLocated } from '../network/fetch.ts'
import type { BundleTerms } from '../documents/bundle.ts'

/** UTF-8 needs at most this many bytes for one UTF-16 code unit. */
const BYTES_PER_UNIT = 3

export interface ContractSide {
  readonly text: string
  /** Texts of further files by path relative to the document. */
  readonly files: Readonly<Record<string, string>>
  /** The caller gave the document itself, and has to give its files too. */
  readonly isInline: boolean
}

type ContractText =
  | { readonly ok: true; readonly side: ContractSide }
  | { readonly ok: false; readonly because: 'not_configured' | 'unreadable'; readonly message: string }

/** @param texts looks into texts where a large one holds up nobody */
export async function contractText(
  given: string,
  { diff, limits }: DocumentsConfig & LimitsConfig,
  texts: BundleTerms['texts'],
): Promise<ContractText> {
  const maxBytes = limits.artifact_side * BYTES_PER_UNIT
  if (/^https?:\/\/\S+$/i.test(given))
    return readSideText(await addressSide(given, diff.allow_urls, { texts, maxBytes }))
  const reference = parseGitReference(given)
  if (reference === null) return { ok: true, side: { text: given, files: {}, isInline: true } }
  if (diff.repository === undefined) {
    const message =
      'looks like <ref>:<path>, and no repository is configured (diff.repository); else give the document itself'
    return { ok: false, because: 'not_configured', message }
  }
  return readSideText(
    await gitSide(diff.repository, reference, { maxBytes, referencesOf: (text) => texts.fileReferences(text) }),
  )
}

async function gitSide(
  repository: string,
  reference: GitReference,
  { maxBytes, referencesOf }: Pick<FileShelf, 'maxBytes' | 'referencesOf'>,
): Promise<Result<ContractSide>> {
  const document = await readGitDocument(repository, reference, maxBytes)
  if (!document.ok) return document
  const { text, read } = document.value
  const files = await referencedFiles(text, { read, referencesOf, maxBytes })
  return files.ok ? ok({ text, files: files.value, isInline: false }) : files
}

/** Files come from the document's own origin, or from another host that the configuration lists; never from plain http for https. */
async function addressSide(
  address: string,
  hosts: readonly string[],
  terms: Pick<BundleTerms, 'texts' | 'maxBytes'>,
): Promise<Result<ContractSide>> {
  const schemes = address.toLowerCase().startsWith('https:') ? ['https'] : ['https', 'http']
  const whole = await contractAtAddress(address, {
    ...terms,
    fetch: (url, maxBytes) => fetchLocated(url, { allowedHosts: hosts, maxBytes }),
    origins: hosts.flatMap((host) => schemes.flatMap((scheme) => URL.parse(`${scheme}://${host}`)?.origin ?? [])),
  })
  return whole.ok ? ok({ text: whole.value.text, files: {}, isInline: false }) : whole
}

function readSideText(read: Result<ContractSide>): ContractText {
  return read.ok ? { ok: true, side: read.value } : { ok: false, because: 'unreadable', message: read.problem.message }
}
