/** Reads a contract from where the configuration says it is. Addresses, files and refs are the operator's, never a caller's. */
import { readFile, stat } from 'node:fs/promises'
import type { ContractSource } from '../config/route.ts'
import { canonicalAddress, specialRange } from '../egress/address.ts'
import { fetchDocument } from '../egress/fetch.ts'
import { GatewayError } from '../errors.ts'
import { readGitDocument, readGitFolder } from '../scm/git-document.ts'
import { gitFileChangedAt, parseGitReference } from '../scm/git.ts'
import { protoFolderChangedAt, protoSet, readProtoFolder } from './proto-folder.ts'

const MAX_BYTES = 64 * 1024 * 1024

/** What each kind of source is called in the record of a baseline. */
export type SourceKind = 'file' | 'url' | 'git'

/**
 * The text of the contract. Rejects with PREFLIGHT_UNDECIDED: a call that rests on it cannot be judged.
 * @param repository where git sources are read (`diff.repository`)
 */
export async function readContractSource(source: ContractSource, repository: string | undefined): Promise<string> {
  try {
    if ('file' in source) return await readFromDisk(source.file)
    return await ('git' in source ? readFromGit(source.git, repository) : download(source.url))
  } catch (error) {
    throw new GatewayError('PREFLIGHT_UNDECIDED', `The contract could not be read from ${placeOf(source)}.`, {
      cause: error,
    })
  }
}

export function sourceKind(source: ContractSource): SourceKind {
  if ('file' in source) return 'file'
  return 'git' in source ? 'git' : 'url'
}

/** True when a file was written, or its ref was given another content, after `since` (milliseconds); a URL does not tell. */
export async function isNewer(source: ContractSource, since: number, repository: string | undefined): Promise<boolean> {
  if ('file' in source) return (await fileChangedAt(source.file)) > since
  if (!('git' in source)) return false
  const changedAt = await gitFileChangedAt(...placeInGit(source.git, repository))
  return changedAt !== null && changedAt > since
}

function placeOf(source: ContractSource): string {
  if ('file' in source) return source.file
  return 'git' in source ? `${source.git} in the repository` : new URL(source.url).host
}

async function readFromGit(text: string, repository: string | undefined): Promise<string> {
  const place = placeInGit(text, repository)
  const read = await readGitDocument(...place, MAX_BYTES)
  if (read.ok) return read.value.text
  const folder = await readGitFolder(...place, '.proto', MAX_BYTES)
  if (folder.ok && folder.value.size > 0) return protoSet(text, folder.value)
  throw new Error(read.problem.message)
}

/** A folder stands for the .proto files in it. */
async function readFromDisk(path: string): Promise<string> {
  return (await stat(path)).isDirectory() ? readProtoFolder(path, MAX_BYTES) : readFile(path, 'utf8')
}

async function fileChangedAt(path: string): Promise<number> {
  const found = await stat(path)
  return found.isDirectory() ? protoFolderChangedAt(path) : found.mtimeMs
}

function placeInGit(text: string, repository: string | undefined) {
  const reference = parseGitReference(text)
  if (reference === null) throw new Error(`"${text}" is not of the form REF:PATH`)
  if (repository === undefined) throw new Error('no repository is configured: diff.repository')
  return [repository, reference] as const
}

async function download(url: string): Promise<string> {
  const read = await fetchDocument(url, { allowedHosts: null, maxBytes: MAX_BYTES, isPermitted: isNoMetadata })
  if (read.ok) return read.value
  throw new Error(read.problem.message)
}

/** Contracts may lie anywhere inside; no contract lies where a cloud hands out credentials. */
function isNoMetadata(address: string): boolean {
  const canonical = canonicalAddress(address)
  return canonical !== null && specialRange(canonical)?.kind !== 'cloud metadata'
}
