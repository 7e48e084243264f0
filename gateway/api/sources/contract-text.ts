/** `base` and `head` of a diff (wire.md §3): a URL, `<ref>:<path>` in the configured repository, or the document itself. */
import { ok, type Result } from '../../../engine/index.ts'
import type { Config } from '../../config/schema.ts'
import { parseGitReference, readGitFile } from '../../scm/git.ts'
import { fetchDocument } from './fetch.ts'

/** UTF-8 needs at most this many bytes for one UTF-16 code unit. */
const BYTES_PER_UNIT = 3

export type ContractText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly because: 'not_configured' | 'unreadable'; readonly message: string }

export async function contractText(
  given: string,
  { diff, limits }: Pick<Config, 'diff' | 'limits'>,
): Promise<ContractText> {
  const maxBytes = limits.artifact_side * BYTES_PER_UNIT
  if (/^https?:\/\/\S+$/i.test(given)) {
    return outcome(await fetchDocument(given, { allowedHosts: diff.allow_urls, maxBytes }))
  }
  const reference = parseGitReference(given)
  if (reference === null) return outcome(ok(given))
  if (diff.repository === undefined) {
    const message =
      'looks like <ref>:<path>, and no repository is configured (diff.repository); else give the document itself'
    return { ok: false, because: 'not_configured', message }
  }
  return outcome(await readGitFile(diff.repository, reference, maxBytes))
}

function outcome(read: Result<string>): ContractText {
  return read.ok ? { ok: true, text: read.value } : { ok: false, because: 'unreadable', message: read.problem.message }
}
