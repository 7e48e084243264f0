/** Reads a contract from where the configuration says it is. Addresses, files and refs are the operator's, never a caller's. */
import { stat } from 'node:fs/promises'
import type { Result } from '../../engine/internal.ts'
import type { ContractSource } from '../routing/route.ts'
import { canonicalAddress, specialRange } from '../network/address.ts'
import { fetchLocated, type FetchedDocument } from '../network/fetch.ts'
import { GatewayError } from '../errors/errors.ts'
import type { Bundle } from './bundle.ts'
import { readGitFolder } from './git-document.ts'
import { gitFilesChangedAt, parseGitReference } from './git.ts'
import { contractAtAddress } from './contract-addresses.ts'
import { contractInGit, contractOnDisk, filesChangedAt, type FileTerms } from './contract-files.ts'
import { protoFolderChangedAt, protoSet, readProtoFolder } from './proto-folder.ts'

const MAX_BYTES = 64 * 1024 * 1024

/** What each kind of source is called in the record of a baseline. */
type SourceKind = 'file' | 'url' | 'git'

export interface SourceTerms {
  /** Where git sources are read (`diff.repository`). */
  readonly repository: string | undefined
  readonly texts: FileTerms['texts']
}

/**
 * The whole text of the contract, with the files that it refers to. Rejects with PREFLIGHT_UNDECIDED: a call that rests on it cannot be judged.
 * @param origins further origins that files of a document at a URL may be fetched from (`contract.origins`)
 */
export async function readContractSource(
  source: ContractSource,
  terms: SourceTerms,
  origins: readonly string[] = [],
): Promise<string> {
  if ('url' in source) {
    const address = {
      ...fileTerms(terms),
      fetch: fetchContract,
      origins: origins.map((origin) => new URL(origin).origin),
    }
    return withReadError(source, async () => bundleOrThrow(await contractAtAddress(source.url, address)).text)
  }
  return withReadError(source, async () => {
    if ('git' in source) return (await gitContract(source.git, terms)).text
    return (await isDirectory(source.file))
      ? readProtoFolder(source.file, MAX_BYTES)
      : bundleOrThrow(await contractOnDisk(source, fileTerms(terms))).text
  })
}

export function sourceKind(source: ContractSource): SourceKind {
  if ('file' in source) return 'file'
  return 'git' in source ? 'git' : 'url'
}

/** True when one of its files was written, or its ref was given another content, after `since` (milliseconds); a URL does not tell. */
export async function isNewer(source: ContractSource, since: number, terms: SourceTerms): Promise<boolean> {
  if ('url' in source) return false
  if ('file' in source) {
    if (await isDirectory(source.file)) return (await protoFolderChangedAt(source.file)) > since
    const { files } = bundleOrThrow(await contractOnDisk(source, fileTerms(terms)))
    return (await filesChangedAt(source, files)) > since
  }
  const { repository, reference } = placeInGit(source.git, terms)
  const { files } = await gitContract(source.git, terms)
  const changedAt = await gitFilesChangedAt(repository, reference.ref, files)
  return changedAt !== null && changedAt > since
}

async function withReadError(source: ContractSource, read: () => Promise<string>): Promise<string> {
  try {
    return await read()
  } catch (error) {
    // An address may hold credentials, so that only the log has it.
    const message = `The contract could not be read from ${sourceLocation(source)}; the log has the cause.`
    throw new GatewayError('PREFLIGHT_UNDECIDED', message, { cause: error })
  }
}

function sourceLocation(source: ContractSource): string {
  if ('file' in source) return source.file
  return 'git' in source ? `${source.git} in the repository` : new URL(source.url).host
}

/** A folder stands for the .proto files in it. */
async function gitContract(text: string, terms: SourceTerms): Promise<Bundle> {
  const { repository, reference } = placeInGit(text, terms)
  const read = await contractInGit(repository, reference, fileTerms(terms))
  if (read.ok) return read.value
  const folder = await readGitFolder(repository, reference, '.proto', MAX_BYTES)
  if (folder.ok && folder.value.size > 0) return { text: protoSet(text, folder.value), files: [reference.path] }
  throw new Error(folder.ok ? read.problem.message : folder.problem.message)
}

function fileTerms({ texts }: SourceTerms): FileTerms {
  return { texts, maxBytes: MAX_BYTES }
}

function bundleOrThrow(read: Result<Bundle>): Bundle {
  if (read.ok) return read.value
  throw new Error(read.problem.message)
}

async function isDirectory(path: string): Promise<boolean> {
  return (await stat(path)).isDirectory()
}

function placeInGit(text: string, { repository }: SourceTerms) {
  const reference = parseGitReference(text)
  if (reference === null) throw new Error(`"${text}" is not of the form REF:PATH`)
  if (repository === undefined) throw new Error('no repository is configured: diff.repository')
  return { repository, reference }
}

function fetchContract(url: string, maxBytes: number): Promise<Result<FetchedDocument>> {
  return fetchLocated(url, { allowedHosts: null, maxBytes, isPermitted: isNoMetadata })
}

/** Contracts may lie anywhere inside; no contract lies where a cloud hands out credentials. */
function isNoMetadata(address: string): boolean {
  const canonical = canonicalAddress(address)
  return canonical !== null && specialRange(canonical)?.kind !== 'cloud metadata'
}
