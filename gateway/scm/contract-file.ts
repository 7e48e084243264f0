/** One file on both sides of a change as the artifacts it makes: by what its texts show, and where they show nothing, by its name. */
import type { Artifact, ArtifactType, Problem } from '../../engine/internal.ts'
import type { UnreadableArtifact } from '../flow/flow.ts'
import { bundle, type BundleTerms } from '../documents/bundle.ts'
import { type DerivationTerms, typeByName } from './selector.ts'
import { ARTIFACT_PROBLEMS } from './problems.ts'
import { askInOrder } from './transport.ts'
import type { TreeSides } from './merge-view.ts'
import type { ChangedFile, FileAtCommit } from './platform.ts'

export interface ContractFile {
  readonly path: string
  readonly artifacts: readonly Artifact[]
  readonly unreadable: readonly UnreadableArtifact[]
  /** All files that either side rests on. */
  readonly files: readonly string[]
}

/** What a side shows: nothing there, a contract, something else, or a text that cannot be read. */
type FileSide =
  | { readonly kind: 'absent' | 'other' }
  | { readonly kind: 'contract'; readonly type: ArtifactType; readonly text: string; readonly files: readonly string[] }
  /** `isText`: the text was had, and is none of a contract's language. */
  | { readonly kind: 'broken'; readonly problem: Problem; readonly isText: boolean }

export async function classify(
  { path }: Pick<ChangedFile, 'path'>,
  sides: TreeSides,
  terms: DerivationTerms,
): Promise<ContractFile> {
  const [before, after] = await Promise.all([fileSide(path, sides.before, terms), fileSide(path, sides.after, terms)])
  const files = [before, after].flatMap((side) => (side.kind === 'contract' ? side.files : []))
  return { path, files: [...new Set(files)], ...artifactsBetween(path, before, after) }
}

async function fileSide(
  path: string,
  read: (path: string) => Promise<FileAtCommit>,
  { texts, selector, limits }: DerivationTerms,
): Promise<FileSide> {
  const file = await read(path)
  if (file.kind === 'absent' || (file.kind === 'text' && file.text.trim() === '')) return { kind: 'absent' }
  if (file.kind === 'unreadable') return { kind: 'broken', problem: file.problem, isText: false }
  if (file.text.length > limits.maxLength) {
    const message = `${path} has ${file.text.length} characters; at most ${limits.maxLength} are read.`
    return { kind: 'broken', problem: { code: 'ARTIFACT_OVER_LIMIT', message }, isText: false }
  }
  const sniffed = await texts.sniff('', file.text)
  if (!sniffed.ok)
    return sniffed.problem.code === 'UNSUPPORTED_ARTIFACT_TYPE'
      ? { kind: 'other' }
      : { kind: 'broken', problem: sniffed.problem, isText: !isRefusedProblem(sniffed.problem) }
  const type = sniffed.value
  if (!selector.isOfType(type)) return { kind: 'other' }
  if (file.isLink === true) return { kind: 'broken', problem: ARTIFACT_PROBLEMS.link(path), isText: false }
  const whole = await bundle(path, file.text, { texts, read: partReader(read), maxBytes: limits.maxLength })
  return whole.ok
    ? { kind: 'contract', type, ...whole.value }
    : { kind: 'broken', problem: whole.problem, isText: false }
}

/** What leads out of the tree is no file of it. */
function partReader(read: (path: string) => Promise<FileAtCommit>): BundleTerms['read'] {
  return async (paths) => {
    const inside = paths.filter((path) => !path.startsWith('../'))
    const files = await askInOrder(inside, async (path) => [path, await read(path)] as const)
    const texts = new Map<string, string>()
    for (const [path, file] of files) {
      if (file.kind === 'unreadable') return { ok: false, problem: file.problem }
      if (file.kind === 'text') texts.set(path, file.text)
    }
    return { ok: true, value: texts }
  }
}

type Made = Pick<ContractFile, 'artifacts' | 'unreadable'>

const NOTHING: Made = { artifacts: [], unreadable: [] }

function artifactsBetween(path: string, before: FileSide, after: FileSide): Made {
  if (after.kind === 'broken') return brokenAfter(path, before, after.problem)
  if (before.kind === 'contract' && after.kind === 'contract' && before.type !== after.type) {
    // The one contract goes and another comes: neither can be compared with the other.
    const gone = artifact(path, before, null)
    return { artifacts: [{ ...gone, id: `${path} (${gone.type})` }, artifact(path, null, after)], unreadable: [] }
  }
  const base = before.kind === 'contract' ? before : null
  const head = after.kind === 'contract' ? after : null
  if (base !== null || head !== null)
    return before.kind === 'broken' && !before.isText
      ? unreadContract(path, head?.type ?? 'openapi', before.problem)
      : { artifacts: [artifact(path, base, head)], unreadable: [] }
  return before.kind === 'broken' ? brokenAlone(path, before.problem) : NOTHING
}

/** A contract that turns into something unreadable stops the change; so does what is meant for a contract by its name. */
function brokenAfter(path: string, before: FileSide, problem: Problem): Made {
  return before.kind === 'contract' ? unreadContract(path, before.type, problem) : brokenAlone(path, problem)
}

/** A template or a data file is no contract; what is too large or could not be read may be one. */
function brokenAlone(path: string, problem: Problem): Made {
  const named = typeByName(path)
  if (named !== null) return unreadContract(path, named, problem)
  return isRefusedProblem(problem) ? unreadContract(path, 'openapi', problem) : NOTHING
}

/** Everything but a text that is no JSON, YAML, SDL or proto at all. */
function isRefusedProblem({ code }: Problem): boolean {
  return code !== 'ARTIFACT_UNREADABLE'
}

function unreadContract(path: string, type: ArtifactType, problem: Problem): Made {
  return { artifacts: [], unreadable: [{ id: path, type, problem }] }
}

type FileContract = Extract<FileSide, { readonly kind: 'contract' }>

function artifact(path: string, before: FileContract | null, after: FileContract | null): Artifact {
  const type = after?.type ?? before?.type ?? 'openapi'
  return { id: path, type, before: before?.text ?? '', after: after?.text ?? '', path }
}
