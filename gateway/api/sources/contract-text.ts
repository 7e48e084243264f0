/** `base` and `head` of a diff (wire.md §3): a URL, `<ref>:<path>` in the configured repository with the files that it refers to, or the document itself. */
import { ok } from '../../../engine/base.ts'
import type { Result } from '../../../engine/index.ts'
import type { Config } from '../../config/schema.ts'
import { readGitDocument } from '../../scm/git-document.ts'
import { referencedFiles, type FileShelf } from '../../scm/referenced-files.ts'
import { parseGitReference, type GitReference } from '../../scm/git.ts'
import { fetchDocument } from '../../egress/fetch.ts'

/** UTF-8 needs at most this many bytes for one UTF-16 code unit. */
const BYTES_PER_UNIT = 3

export interface ContractSide {
  readonly text: string
  /** Texts of further files by path relative to the document. */
  readonly files: Readonly<Record<string, string>>
}

export type ContractText =
  | { readonly ok: true; readonly side: ContractSide }
  | { readonly ok: false; readonly because: 'not_configured' | 'unreadable'; readonly message: string }

/** @param referencesOf the files that a text names, found where a large text holds up nobody */
export async function contractText(
  given: string,
  { diff, limits }: Pick<Config, 'diff' | 'limits'>,
  referencesOf: FileShelf['referencesOf'],
): Promise<ContractText> {
  const maxBytes = limits.artifact_side * BYTES_PER_UNIT
  if (/^https?:\/\/\S+$/i.test(given)) {
    return outcome(alone(await fetchDocument(given, { allowedHosts: diff.allow_urls, maxBytes })))
  }
  const reference = parseGitReference(given)
  if (reference === null) return outcome(alone(ok(given)))
  if (diff.repository === undefined) {
    const message =
      'looks like <ref>:<path>, and no repository is configured (diff.repository); else give the document itself'
    return { ok: false, because: 'not_configured', message }
  }
  return outcome(await gitSide(diff.repository, reference, { maxBytes, referencesOf }))
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
  return files.ok ? ok({ text, files: files.value }) : files
}

function alone(read: Result<string>): Result<ContractSide> {
  return read.ok ? ok({ text: read.value, files: {} }) : read
}

function outcome(read: Result<ContractSide>): ContractText {
  return read.ok ? { ok: true, side: read.value } : { ok: false, because: 'unreadable', message: read.problem.message }
}
